#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "comm/ranks/topology.hpp"
#include "miniapp/deck/parameters.hpp"
#include "solvers/multigrid/hierarchy.hpp"

namespace keel {

class Layout;

// Bytes that the solve adds to the resident memory of the layout's rank: the grid-sized arrays of all levels, the
// bottom solver's vectors, message buffers of the schemes by level (none: of the deck's scheme). Allocates nothing of that size.
std::size_t predicted_bytes(const Parameters& parameters, const Layout& finest, const Topology& topology,
                            const std::vector<LevelSchemes>& schemes);

// The grid-sized arrays alone, without ghosts and padding: what the run would need at the least.
std::size_t array_bytes(const Parameters& parameters, const Layout& finest);

// Why the grids, or the matrix, cannot fit into `available` bytes of memory that `sharing` of the run's ranks share; nothing if they
// may. Judges by the number of cells or of rows and entries alone, so that it can be asked before anything is laid out.
std::optional<std::string> exceeds_memory(const Parameters& parameters, int ranks, int sharing,
                                          double available, const std::string& where);

double memory_of_node();  // bytes

}  // namespace keel
