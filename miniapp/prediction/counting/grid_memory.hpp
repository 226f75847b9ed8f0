#pragma once

// The memory of a mode of grids: what its hierarchy and its solvers ask a counting backend for.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "miniapp/setup/grid_setup.hpp"
#include "miniapp/setup/machine/memory.hpp"

namespace keel {

// Makes on a hierarchy all that a mode makes there, for these grids.
using MakeSolvers = std::function<void(Hierarchy& hierarchy, const GridSetup& grids)>;

// For each solver of the grids: its vectors, and those that its solves make on first use.
void make_all_solvers(Hierarchy& hierarchy, const GridSetup& grids);

struct GridMemory {
    double arrays = 0;  // bytes of the grids' cells without ghosts and padding: the least that a run needs
    double bytes = 0;   // what a run adds to the resident memory of the rank
};

// The memory of the rank that `grids` names, with the schemes by level (none: the deck's scheme). Blocks of
// boxes are dealt out to `threads` threads.
GridMemory memory_of_grids(const GridSetup& grids, const Topology& topology,
                           const std::vector<LevelSchemes>& schemes, const MakeSolvers& make,
                           int threads = 1);

// The memory of one box so wide that is a whole domain: what each box of the grids needs at least.
GridMemory memory_of_box(GridSetup grids, int width, const MakeSolvers& make);

// Why the grids cannot fit; nothing if they may. Judges by one box and their number, so that it can be asked
// before anything is laid out, and by the bytes that a rank is known to need.
std::optional<std::string> exceeds_memory(const GridSetup& grids, const SharedMemory& memory,
                                          const MakeSolvers& make, double of_rank = 0);

}  // namespace keel
