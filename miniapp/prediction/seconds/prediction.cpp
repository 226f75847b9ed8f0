#include "miniapp/prediction/seconds/prediction.hpp"

#include "miniapp/prediction/seconds/event_costs.hpp"

namespace keel {
namespace {

Seconds seconds_of(const SolveTime& time, const LevelRange& bottom) {
    return {time.seconds(), time.seconds_of(bottom), time.all_reduce_seconds()};
}

}  // namespace

void predict(PredictedSolve& solve, std::span<const Slice> slices, VariedCosts& costs,
             const LevelRange& bottom) {
    const auto time_with = [&](const MachineChange& change) {
        return time_of_solve(slices, costs.with(change));
    };
    solve.time = time_with({});
    solve.delayed[0] = seconds_of(solve.time, bottom);
    for (std::size_t n = 1; n < noises.size(); ++n)
        solve.delayed[n] = seconds_of(time_with({.all_reduce = noises[n]}), bottom);
    constexpr double step = 1e-9;
    const Seconds later = seconds_of(time_with({.latency = step}), bottom);
    solve.messages = (later.solve - solve.seconds().solve) / step;
    solve.bottom_messages = (later.bottom - solve.seconds().bottom) / step;
    solve.costs = event_costs(slices, costs);
}

}  // namespace keel
