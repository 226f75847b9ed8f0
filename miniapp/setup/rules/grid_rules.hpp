#pragma once

// The rules about grids: coarsening, smoothing, precision, the ranks of the bottom.

#include "miniapp/deck/rules.hpp"
#include "miniapp/setup/grid_setup.hpp"

namespace keel {

// The domain, its coarsening and its solvers on so many ranks.
void check_grids(Rules& rules, const GridUse& use, int ranks);

}  // namespace keel
