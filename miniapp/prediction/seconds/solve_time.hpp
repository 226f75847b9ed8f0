#pragma once

// The seconds of a solve on a machine, from what solves do and what that costs.

#include <span>
#include <vector>

#include "miniapp/prediction/seconds/costs.hpp"
#include "miniapp/report/timers.hpp"

namespace keel {

struct LevelRange {
    int first = 0;
    int last = 0;
};

struct SolveTime {
    std::vector<TimerRow> rows;  // as of a run: seconds of the rank with most to do, in every column
    double reductions = 0;
    double words = 0;
    double exchanges = 0;
    // Seconds of sparse_alltoallv, and of gathering from all ranks or on the coarsest level.
    double collecting = 0;

    double seconds() const;
    double seconds_of(const LevelRange& levels) const;
    double all_reduce_seconds() const;
    // Seconds of all messages: exchanges but for packing, sums, and what is gathered.
    double communication_seconds() const;
};

// Seconds that the process waits for the messages of an event if nothing is in flight; 0 of all else.
double message_seconds(const Event& event, Costs& costs);

// Everything in its order, for the rank that has most to do: what is waited for takes its time, and a sum
// in flight what is left of its time when it is to be finished. Perfect progress, equal ranks: a
// bound from below.
SolveTime time_of_solve(std::span<const Slice> slices, Costs& costs);

}  // namespace keel
