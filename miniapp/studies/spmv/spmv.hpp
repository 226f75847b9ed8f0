#pragma once

// What run.mode = spmv finds, and how it is told.

#include <cstdint>
#include <string>
#include <vector>

#include "comm/ranks/communicator.hpp"
#include "comm/ranks/topology.hpp"
#include "kernels/ledger.hpp"
#include "miniapp/deck/parameters.hpp"
#include "miniapp/report/measure.hpp"
#include "miniapp/studies/dry_run.hpp"
#include "solvers/krylov/krylov.hpp"

namespace keel {

// Sent by the rank that sends most, each number by itself, and by all together.
struct TrafficOverRanks {
    Traffic busiest{};
    Traffic all{};
};
TrafficOverRanks over_ranks(const Communicator& comm, const Traffic& mine);  // collective

struct SpmvResults {
    std::int64_t rows = 0;
    double nonzeros = 0;
    int columns = 1;
    // Of the rank with most, and of all together.
    double most_rows = 0, most_nonzeros = 0, most_ghosts = 0, all_ghosts = 0;
    TrafficOverRanks traffic;     // of one product
    std::vector<double> seconds;  // of each product of all columns: the slowest rank
    double bytes_moved = 0;       // by one product, all ranks
    std::vector<TimerRow> timers;
    struct Solve {
        Report report;
        double seconds = 0;
    };
    std::string solver;  // empty: none asked for
    std::vector<Solve> solves;

    double products_per_second() const;  // nonzeros times columns over the median of the seconds
};

std::string spmv_text(const Parameters& parameters, const SpmvResults& spmv, double triad_bytes_per_second);

// Rows, entries, messages, memory, and all schemes. Makes the matrix unless it exceeds the node's memory: each rank its own
// rows, or rank 0 those of all problem.ranks that are not there. Collective; complete on rank 0.
DryRun dry_run_of_matrix(const Parameters& parameters, const Communicator& comm, const Topology& topology);

}  // namespace keel
