#pragma once

// The ledger as rows over all ranks.

#include <string>
#include <vector>

#include "comm/ranks/communicator.hpp"
#include "kernels/ledger.hpp"

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
    // Messages sent, those of sums if they are ours: the busiest rank, and all ranks together.
    double messages = 0, bytes = 0, off_node_messages = 0, off_node_bytes = 0;
    double all_messages = 0, all_bytes = 0, all_off_node_messages = 0, all_off_node_bytes = 0;
    double words = 0;  // in all-reduces
};

// The ledger's entries of so many solves, which took this rank `my_seconds`, and the row "other", what they leave of the
// seconds; complete on rank 0. Collective.
std::vector<TimerRow> gather_timers(const Communicator& comm, const Ledger& ledger, double my_seconds,
                                    int solves);

double median(std::vector<double> values);  // 0 of none

}  // namespace keel
