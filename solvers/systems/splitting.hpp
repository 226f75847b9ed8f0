#pragma once

// How the enlarged methods split a residual into t columns (Grigori and Tissot 2019, the operator T).
//   boxes        box n of the grid in column n mod t; where there are fewer than t boxes they are halved,
//                across their longest edge first, until there are t bricks
//   interleaved  cell n in column n mod t, x fastest
//   slabs        t slabs across x; of more than the grid is wide, bars and then cells
// No column is empty where the level has at least t cells. Measured (16^3, t = 8): boxes take 34 to 38
// iterations, slabs 40; against a right-hand side with the symmetry of the bricks enlarging gains nothing.

#include <cstdint>

#include "kernels/layout/layout.hpp"
#include "kernels/names.hpp"

namespace keel {

enum class Splitting { boxes, interleaved, slabs };
constexpr auto names_of(Splitting) {
    return std::array{"boxes", "interleaved", "slabs"};
}

// The cells of a level in bricks of nearly equal size, `bricks` per direction, numbered x fastest; brick n
// belongs to column n mod `columns`. The column depends on the global cell alone, not on ranks.
struct Bricks {
    Index cells{};   // cells of the level
    Index bricks{};  // at most the number of cells
    int columns = 1;

    constexpr int column_of(const Index& cell) const {
        std::int64_t number = 0;
        for (std::size_t d = 3; d-- > 0;)
            number = number * bricks[d] + std::int64_t{cell[d]} * bricks[d] / cells[d];
        return static_cast<int>(number % columns);
    }
};
Bricks bricks_of(Splitting splitting, const Layout& layout, int columns);

}  // namespace keel
