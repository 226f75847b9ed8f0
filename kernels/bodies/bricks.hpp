#pragma once

// Columns of a vector: its cells are cut into bricks, and each column has those of some bricks.

#include <cstdint>

#include "kernels/cost.hpp"
#include "kernels/layout/box.hpp"
#include "kernels/layout/view.hpp"

namespace keel {

// The cells of a level in bricks of nearly equal size, so many per direction, numbered x fastest; brick n
// belongs to column n mod `columns`. The column depends on the global cell alone, not on ranks.
struct Bricks {
    Index cells{};   // cells of the level
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
    const Index* first_cells;  // one for each local block

    static constexpr Cost cost{0, 1, 1};
    constexpr void operator()(int q, int i, int j, int k) const {
        const bool inside = bricks.column_of(first_cells[q] + Index{i, j, k}) == column;
        y(q, i, j, k) = inside ? x(q, i, j, k) : 0.0;
    }
};

}  // namespace keel
