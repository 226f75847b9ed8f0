#pragma once

// Aggregation: rows that become one row of the next level.

#include <cstdint>
#include <vector>

#include "solvers/amg/setup/ghost_values.hpp"

namespace keel {

// The matrix of nodes of `node` rows: an entry is the Frobenius norm of a block, negative off the diagonal,
// where classical strength counts it.
PartRows nodes_of(const PartRows& A, int node);

// Each aggregate belongs to the rank of its root.
struct Aggregates : Roots {
    // The aggregate of each of this rank's rows; -1 of rows without connections.
    std::vector<std::int64_t> of_row;
};

// Aggregates about roots that are more than two strong connections apart, the same on any number of ranks.
// The roots are the greedy maximal set of rows in descending order of (random_bits(row), -row), which every
// parallel iteration with these keys finds (Bell, Dalton, Olson, "Exposing fine-grained parallelism in
// algebraic multigrid methods", SISC 2012). Neighbours of a root join it; every other row joins the aggregate
// that most of its neighbours are in. `strong` flags entries of A, symmetrically. A round takes four
// exchanges of values and an all-reduce. Collective.
Aggregates aggregate_mis2(const Communicator& comm, const PartRows& A, const std::vector<char>& strong,
                          GhostValues& ghosts);

}  // namespace keel
