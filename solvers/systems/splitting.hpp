#pragma once

// How the enlarged methods split a residual into t columns (Grigori and Tissot 2019, the operator T).
//   boxes        box n of the grid in column n mod t; where there are fewer than t boxes they are halved,
//                across their longest edge first, until there are t bricks
//   interleaved  cell n in column n mod t, x fastest
//   slabs        t slabs across x; of more than the grid is wide, bars and then cells
// No column is empty where the level has at least t cells. Measured (16^3, t = 8): boxes take 34 to 38
// iterations, slabs 40; against a right-hand side with the symmetry of the bricks enlarging gains nothing.

#include "kernels/bodies/bricks.hpp"
#include "kernels/layout/layout.hpp"
#include "kernels/names.hpp"

namespace keel {

enum class Splitting { boxes, interleaved, slabs };
constexpr auto names_of(Splitting) {
    return std::array{"boxes", "interleaved", "slabs"};
}

Bricks bricks_of(Splitting splitting, const Layout& layout, int columns);

}  // namespace keel
