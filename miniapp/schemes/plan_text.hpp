#pragma once

#include <string>

#include "miniapp/setup/grid_setup.hpp"

namespace keel {

// For reading: everything that `rank` sends and receives when it exchanges ghost cells, level by level, phase by phase.
std::string plan_text(const GridSetup& grids, const Resolved& resolved, int rank);

}  // namespace keel
