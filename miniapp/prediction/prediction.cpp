#include "miniapp/prediction/prediction.hpp"

#include <functional>

namespace keel {
namespace {

Seconds seconds_of(const SolveTime& time, const LevelRange& bottom) {
    return {time.seconds(), time.seconds_of(bottom), time.all_reduce_seconds()};
}

// How a machine differs from that of the deck: seconds more of each all-reduce and of each message between
// nodes, whose overhead stays; and how many times as long each byte takes.
struct Change {
    double all_reduce = 0, latency = 0;
    double memory = 1, network = 1;
};

Model changed(Model model, const Change& change) {
    Machine& machine = model.machine;
    machine.noise.all_reduce += change.all_reduce;
    if (auto& nonblocking = machine.noise.nonblocking_all_reduce) *nonblocking += change.all_reduce;
    if (machine.compute) machine.compute->rate /= change.memory;
    if (machine.compute && machine.compute->cache) machine.compute->cache->rate /= change.memory;
    if (machine.injection_beta) *machine.injection_beta *= change.network;
    for (auto& costs : machine.messages)
        for (const Protocol protocol : {Protocol::short_, Protocol::eager, Protocol::rendezvous})
            if (costs && costs->at(Locality::off_node, protocol)) {
                costs->at(Locality::off_node, protocol)->alpha += change.latency;
                costs->at(Locality::off_node, protocol)->beta *= change.network;
            }
    return model;
}

// The latency that makes seconds(latency), which is convex, piecewise linear and does not fall, 5 % more than
// without any. By Newton's method, whose steps, but for the first, only approach from above.
LatencyTolerance tolerance(double now, const std::function<double(double)>& seconds) {
    constexpr double step = 1e-9;
    constexpr double loss = 0.05;
    LatencyTolerance found;
    const auto slope_at = [&](double more) { return (seconds(more + step) - seconds(more)) / step; };
    found.messages = slope_at(0);
    if (found.messages < 0.5) return found;
    double more = loss * now / found.messages;
    for (int tries = 0; tries < 20; ++tries) {
        const double excess = seconds(more) - (1 + loss) * now;
        if (excess <= 1e-9 * now) break;
        const double slope = slope_at(more);
        if (slope < 0.5) break;  // sums progressed between operations take steps
        more -= excess / slope;
    }
    found.seconds = more;
    return found;
}

}  // namespace

void predict(PredictedSolve& solve, std::span<const Slice> slices, const std::vector<ExchangePlan>& plans,
             const VirtualRanks& ranks, const LevelRange& bottom) {
    const auto time_with = [&](const Change& change) {
        VirtualRanks on_model = ranks;
        on_model.model = changed(ranks.model, change);
        Costs costs(plans, on_model);
        return time_of_solve(slices, costs);
    };
    const auto seconds_with = [&](const Change& change) { return seconds_of(time_with(change), bottom); };
    solve.time = time_with({});
    solve.seconds = seconds_of(solve.time, bottom);
    for (std::size_t n = 0; n < noises.size(); ++n)
        solve.delayed[n] = seconds_with({.all_reduce = noises[n]});
    constexpr double slower = 1e-3;
    const Seconds memory = seconds_with({.memory = 1 + slower});
    const Seconds network = seconds_with({.network = 1 + slower});
    const auto shares = [&](double Seconds::*part) -> RateShares {
        const double now = solve.seconds.*part;
        if (now == 0) return {};
        return {(memory.*part / now - 1) / slower, (network.*part / now - 1) / slower};
    };
    solve.bottom_rates = shares(&Seconds::bottom);
    solve.solve_rates = shares(&Seconds::solve);
    const auto tolerated = [&](double Seconds::*part) {
        return tolerance(solve.seconds.*part,
                         [&](double more) { return seconds_with({.latency = more}).*part; });
    };
    solve.bottom = tolerated(&Seconds::bottom);
    solve.solve = tolerated(&Seconds::solve);
}

}  // namespace keel
