#pragma once

// Keel's own discretisation as a matrix: problem.matrix = "grid".

#include "miniapp/modes/spmv/matrix/matrix_source.hpp"

namespace keel {

// The finest operator of the problem, by the formulas that grids have it of: a row a cell, box after box in
// the order of their numbers, in a box x fastest. Beside its rows a rank keeps 4 bytes a box.
Generator grid_operator(const GridOperator& grid);

// Whether the matrix is such an operator with constants in its null space.
bool is_singular(const MatrixChoice& matrix);

}  // namespace keel
