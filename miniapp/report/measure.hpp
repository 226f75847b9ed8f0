#pragma once

// What solves cost: seconds, communication, and the ledger as rows over all ranks.

#include <functional>
#include <string>
#include <vector>

#include "comm/ranks/communicator.hpp"
#include "kernels/backends/registry.hpp"
#include "kernels/ledger.hpp"
#include "solvers/multigrid/hierarchy.hpp"

namespace keel {

// One operation on one level, per solve, over all ranks.
struct TimerRow {
    std::string op;
    int level = 0;
    double calls = 0;  // on rank 0
    double t_min = 0, t_mean = 0, t_max = 0;
    int rank_max = 0;        // the rank that took t_max
    double bytes_moved = 0;  // all ranks, by declared costs
    double flops = 0;        // all ranks
    // Messages sent: the busiest rank, and all ranks together.
    double messages = 0, bytes = 0, off_node_messages = 0, off_node_bytes = 0;
    double all_messages = 0, all_bytes = 0, all_off_node_messages = 0, all_off_node_bytes = 0;
    double words = 0;  // in all-reduces
};

// The ledger's entries of so many solves, which took this rank `my_seconds`, and the row "other", what they leave of the
// seconds; complete on rank 0. Collective.
std::vector<TimerRow> gather_timers(const Communicator& comm, const Ledger& ledger, double my_seconds,
                                    int solves);

// Of one solve, set-up not counted; communication on all levels.
struct SolveCost {
    double seconds = 0;     // the slowest rank
    double my_seconds = 0;  // this rank
    long reductions = 0;
    long reduction_words = 0;
    long exchanges = 0;
    long graph_replays = 0;  // by this rank's device
};

// Runs `solve`, which is collective, from a barrier on. Collective.
SolveCost measured(const Communicator& comm, const Backend& backend, const Hierarchy& hierarchy,
                   const std::function<void()>& solve);

double median(std::vector<double> values);  // 0 of none

}  // namespace keel
