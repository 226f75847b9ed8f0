#pragma once

// Columns of a vector: its cells are cut into bricks, and each column has those of some bricks.

#include <cstdint>

#include "kernels/cost.hpp"
#include "kernels/layout/box.hpp"
#include "kernels/layout/view.hpp"

namespace keel {

// A level's cells in as many bricks of nearly equal size as given per direction, numbered x fastest; brick n belongs to
// column n mod `columns`. A function of the global cell alone: it does not know of ranks.
struct Bricks {
    Index cells{};   // of the level
    Index bricks{};  // at most as many as there are cells
    int columns = 1;

    constexpr int column_of(const Index& cell) const {
        std::int64_t number = 0;
        for (std::size_t d = 3; d-- > 0;)
            number = number * bricks[d] + std::int64_t{cell[d]} * bricks[d] / cells[d];
        return static_cast<int>(number % columns);
    }
    friend constexpr bool operator==(const Bricks&, const Bricks&) = default;
};

// y = x on the cells of one column, 0 on the others
struct TakeColumn {
    View y;
    View x;
    Bricks bricks;
    int column;
    const Index* first_cells;  // of the local blocks

    static constexpr Cost cost{0, 1, 1};
    constexpr void operator()(int q, int i, int j, int k) const {
        const bool inside = bricks.column_of(first_cells[q] + Index{i, j, k}) == column;
        y(q, i, j, k) = inside ? x(q, i, j, k) : 0.0;
    }
};

}  // namespace keel
