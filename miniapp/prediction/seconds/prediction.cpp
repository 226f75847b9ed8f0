#include "miniapp/prediction/seconds/prediction.hpp"

namespace keel {
namespace {

Seconds seconds_of(const SolveTime& time, const LevelRange& bottom) {
    return {time.seconds(), time.seconds_of(bottom), time.all_reduce_seconds()};
}

// The machine with a longer delay of each all-reduce, and latency of each message between nodes, whose
// overhead stays.
Model slowed(Model model, double all_reduce, double latency) {
    Machine& machine = model.machine;
    machine.noise.all_reduce += all_reduce;
    if (auto& nonblocking = machine.noise.nonblocking_all_reduce) *nonblocking += all_reduce;
    for (auto& costs : machine.messages)
        for (const Protocol protocol : values_of<Protocol>())
            if (costs && costs->at(Locality::off_node, protocol))
                costs->at(Locality::off_node, protocol)->alpha += latency;
    return model;
}

}  // namespace

void predict(PredictedSolve& solve, std::span<const Slice> slices, const std::vector<ExchangePlan>& plans,
             const VirtualRanks& ranks, const LevelRange& bottom) {
    const auto time_with = [&](double all_reduce, double latency) {
        VirtualRanks on_model = ranks;
        on_model.model = slowed(ranks.model, all_reduce, latency);
        Costs costs(plans, on_model);
        return time_of_solve(slices, costs);
    };
    solve.time = time_with(0, 0);
    solve.delayed[0] = seconds_of(solve.time, bottom);
    for (std::size_t n = 1; n < noises.size(); ++n)
        solve.delayed[n] = seconds_of(time_with(noises[n], 0), bottom);
    constexpr double step = 1e-9;
    const Seconds later = seconds_of(time_with(0, step), bottom);
    solve.messages = (later.solve - solve.seconds().solve) / step;
    solve.bottom_messages = (later.bottom - solve.seconds().bottom) / step;
}

}  // namespace keel
