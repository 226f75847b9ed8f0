#pragma once

// The seconds of a solve on a machine, from what solves do and what that costs.

#include <span>
#include <vector>

#include "miniapp/prediction/costs.hpp"
#include "miniapp/prediction/trace.hpp"
#include "miniapp/report/timers.hpp"

namespace keel {

// Levels of a trace that are part of a solve.
struct Slice {
    const Trace* trace = nullptr;
    int first = 0;  // its levels, by their numbers in the trace
    int last = 0;
    int shift = 0;     // to their numbers in the solve
    double times = 1;  // how often the solve does what the trace did
    double boxes = 1;  // of the rank, for each that the trace's rank had
    double ranks = 1;  // whose boxes are those of all ranks, for what all do
};

struct SolveTime {
    std::vector<TimerRow> rows;  // as of a run: seconds of the rank with most to do, in every column
    double reductions = 0;
    double words = 0;
    double exchanges = 0;
    double collecting =
        0;  // seconds of letters, and of what is gathered from all ranks or on the coarsest level

    double seconds() const;
    double seconds_of_level(int level) const;
    double all_reduce_seconds() const;
    // Of all messages: exchanges but for packing, sums, and what is gathered.
    double communication_seconds() const;
};

// Everything in its order, for the rank that has most to do: what is waited for takes its time, and a sum that is under way
// what is left of its time when it is to be finished. Perfect progress, equal ranks: a bound from below.
SolveTime time_of_solve(std::span<const Slice> slices, Costs& costs);

}  // namespace keel
