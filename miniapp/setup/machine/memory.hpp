#pragma once

// The memory that a mode of grids needs, before any of it is taken.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "miniapp/setup/grid_setup.hpp"
#include "miniapp/setup/machine/dry_run_cost.hpp"

namespace keel {

// Bytes that the solve adds to the resident memory of the layout's rank: the grid-sized arrays of all levels,
// the bottom solver's vectors, message buffers of the schemes by level (none: the deck's scheme). Blocks of
// boxes are dealt out to so many threads.
std::size_t predicted_bytes(const GridSetup& grids, const Layout& finest, const Topology& topology,
                            const std::vector<LevelSchemes>& schemes, int threads = 1);

// The grid-sized arrays alone, without ghosts and padding: the least that the run needs.
std::size_t array_bytes(const GridSetup& grids, const Layout& finest);

// Memory that ranks share.
struct SharedMemory {
    double bytes = 0;
    int sharing = 1;    // ranks
    std::string where;  // "node" or "device"
    DryRunLimit limit = {};

    // A rank may take so much of it to plan for virtual ranks: other ranks need some, too.
    double to_plan_with() const { return bytes / 2 / sharing; }
};
double memory_of_node();  // bytes

// Why the grids cannot fit; nothing if they may. Judges by the number of cells alone, so that it can be asked
// before anything is laid out.
std::optional<std::string> exceeds_memory(const GridSetup& grids, const SharedMemory& memory);

}  // namespace keel
