#pragma once

// Aggregation: rows that become one row of the next level.

#include <cstdint>
#include <vector>

#include "solvers/amg/options.hpp"
#include "solvers/amg/setup/ghost_values.hpp"

namespace keel {

struct Aggregates {
    RowPartition partition;  // of the aggregates, each of the rank that its root is of
    std::vector<std::int64_t>
        of_row;  // the aggregate of each of this rank's rows; -1 of those without connections
    std::vector<std::int64_t> roots;  // of this rank's aggregates, in their order
    int rounds = 0;                   // that it took to find the roots
};

// Aggregates about roots that are more than two strong connections apart, the same on any number of ranks. Of all rows the
// greedy maximal set in descending order of (u(seed, row), -row): what every parallel iteration with these keys finds (Bell,
// Dalton, Olson, "Exposing fine-grained parallelism in algebraic multigrid methods", SISC 2012). Then neighbours of roots,
// then the rest by where most of their neighbours are. `strong` flags entries of A, symmetrically.
// A round takes four exchanges of values and a sum over all ranks. Collective.
Aggregates aggregate_mis2(const Communicator& comm, const PartRows& A, const std::vector<char>& strong,
                          GhostValues& ghosts, std::uint64_t seed);

// Vanek, Mandel, Brezina, "Algebraic multigrid by smoothed aggregation for second and fourth order elliptic problems",
// Computing 1996, inside each rank, by its strong connections within itself: no aggregate has rows of two ranks, and there
// are no fewer than ranks with rows. A row that has strong connections to other ranks alone is an aggregate by itself.
// Collective.
Aggregates aggregate_local(const Communicator& comm, const PartRows& A, const std::vector<char>& strong);

}  // namespace keel
