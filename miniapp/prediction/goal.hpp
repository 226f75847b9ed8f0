#pragma once

// The communication of a solve as a schedule in GOAL (Hoefler, Siebert and Lumsdaine, 2009): what each rank computes, sends and
// receives, and what has to be over before. Straight from plans and rounds; read by LogGOPSim's txt2bin.

#include <ostream>
#include <span>
#include <vector>

#include "miniapp/prediction/predicted_solve.hpp"

namespace keel {

struct GoalCounts {
    long exchanges = 0;
    long sums = 0;
    double messages = 0;  // of all ranks
};

// The first V-cycle of a solve, as its slices tell it: the bottom's first, the levels' above last; of the visit to the bottom at
// most so many exchanges and sums. A pipelined sum is a chain of its own, on the second processor, until it is finished. Work is
// that of the rank with most boxes, but for packing. The plans must be of all ranks (Representatives::all).
GoalCounts write_goal(std::ostream& out, std::span<const Slice> slices,
                      const std::vector<ExchangePlan>& plans, const Imagined& where, long most_of_visit);

}  // namespace keel
