#pragma once

// One full multigrid cycle as all of a solve, judged by the error of the discretisation.

#include "miniapp/modes/grids/grid_mode.hpp"

namespace keel {

// Whether an F-cycle is the only cycle of a solve.
bool is_full_cycle(const MultigridOptions& multigrid);

// The solution is known, and the exact discrete one can be computed on grids of spacing h, 2h and 4h.
void check_full_cycle(Rules& rules);

// Times the cycle, and compares its error with that of the exact discrete solution. Collective.
void measure_full_cycle(const Setting& setting, Findings& findings);

}  // namespace keel
