#pragma once

#include <string>

#include "miniapp/setup/grid_setup.hpp"
#include "miniapp/setup/machine/memory.hpp"

namespace keel {

// For reading: everything that `rank` sends and receives when it exchanges ghost cells, level by level, phase
// by phase. What a model chooses from is planned in the rank's share of the memory.
std::string plan_text(const GridSetup& grids, const Resolved& resolved, int rank, const SharedMemory& memory);

}  // namespace keel
