#pragma once

// The operator of a grid (kernels/bodies/stencil.hpp) as the rows of a matrix, one a cell.

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "kernels/layout/domain.hpp"

namespace keel {

struct MatrixEntry {
    std::int64_t column;
    double value;
};

// Coefficients of the operator at a cell.
struct CellCoefficients {
    double diagonal = 0;                      // D
    std::array<Sides<double>, 3> faces = {};  // c of the two faces of each direction
};

// Numbers the rows: the cells of a box follow each other, x fastest.
struct CellRows {
    Domain domain;
    Index extent;                                // cells of a box
    std::function<std::int64_t(int box)> first;  // row of a box

    // The cell may lie in the box next to this one; nothing beyond a boundary.
    std::optional<std::int64_t> row(int box, Index cell) const;
};

// The entries of a cell's row by ascending columns: D at its own, -c at its neighbours'. What is of one
// column, as in periodic directions of one cell or two, is added.
std::vector<MatrixEntry> entries_of_cell(const CellRows& rows, int box, const Index& cell,
                                         const CellCoefficients& at);

}  // namespace keel
