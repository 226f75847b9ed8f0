#include "miniapp/prediction/predicted_solve.hpp"

#include <functional>

namespace keel {
namespace {

Seconds seconds_of(const SolveTime& time, const LevelRange& bottom) {
    return {time.seconds(), time.seconds_of(bottom), time.all_reduce_seconds()};
}

Model with_noise(Model model, double all_reduce) {
    model.machine.noise.all_reduce += all_reduce;
    return model;
}

// The latency of messages between nodes grows; the overhead stays, if it is known.
Model with_latency(Model model, double more) {
    for (auto& costs : model.machine.messages)
        for (const Protocol protocol : {Protocol::short_, Protocol::eager, Protocol::rendezvous})
            if (costs && costs->at(Locality::off_node, protocol))
                costs->at(Locality::off_node, protocol)->alpha += more;
    return model;
}

// Each byte takes so many times as long.
Model with_slower_memory(Model model, double times) {
    if (!model.machine.compute) return model;
    model.machine.compute->rate /= times;
    if (model.machine.compute->cache) model.machine.compute->cache->rate /= times;
    return model;
}
Model with_slower_network(Model model, double times) {
    if (model.machine.injection_beta) *model.machine.injection_beta *= times;
    for (auto& costs : model.machine.messages)
        for (const Protocol protocol : {Protocol::short_, Protocol::eager, Protocol::rendezvous})
            if (costs && costs->at(Locality::off_node, protocol))
                costs->at(Locality::off_node, protocol)->beta *= times;
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
    const auto time_on = [&](const Model& model) {
        VirtualRanks on_model = ranks;
        on_model.model = model;
        Costs costs(plans, on_model);
        return time_of_solve(slices, costs);
    };
    solve.time = time_on(ranks.model);
    solve.seconds = seconds_of(solve.time, bottom);
    for (std::size_t n = 0; n < noises.size(); ++n)
        solve.noisy[n] = seconds_of(time_on(with_noise(ranks.model, noises[n])), bottom);
    constexpr double slower = 1e-3;
    const Seconds memory = seconds_of(time_on(with_slower_memory(ranks.model, 1 + slower)), bottom);
    const Seconds network = seconds_of(time_on(with_slower_network(ranks.model, 1 + slower)), bottom);
    const auto shares = [&](double Seconds::*part) -> RateShares {
        const double now = solve.seconds.*part;
        if (now == 0) return {};
        return {(memory.*part / now - 1) / slower, (network.*part / now - 1) / slower};
    };
    solve.bottom_rates = shares(&Seconds::bottom);
    solve.solve_rates = shares(&Seconds::solve);
    const auto tolerated = [&](double Seconds::*part) {
        return tolerance(solve.seconds.*part, [&](double more) {
            return seconds_of(time_on(with_latency(ranks.model, more)), bottom).*part;
        });
    };
    solve.bottom = tolerated(&Seconds::bottom);
    solve.solve = tolerated(&Seconds::solve);
}

}  // namespace keel
