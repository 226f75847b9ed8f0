#pragma once

// The operator of a level, as it is in its fields, as rows of a matrix.

#include "solvers/multigrid/level.hpp"
#include "solvers/systems/sparse/sparse_matrix.hpp"

namespace keel {

// Rank after rank has the rows of its boxes, box after box, in a box x fastest: no row leaves the rank that
// has its cell.
RowPartition rows_of_ranks(const Layout& layout);

// This rank's rows. Reads the coefficients into host memory. Purely local, but for what the operator has in
// its fields.
GlobalRows rows_of_level(const Level& level);

}  // namespace keel
