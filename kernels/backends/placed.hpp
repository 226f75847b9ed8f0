#pragma once

// Items of boxes as items of the blocks that the boxes lie in (kernels/layout/storage.hpp).

#include <span>
#include <vector>

#include "kernels/bodies/boundary.hpp"
#include "kernels/bodies/pack.hpp"
#include "kernels/layout/storage.hpp"

namespace keel {

std::vector<BlockCopy> placed(std::span<const Window> windows, std::span<const BlockCopy> copies);

// Copies into ghosts. Left out are those that would copy a cell to itself, from one box of a block to the
// ghosts of another, and targets that lie in others.
std::vector<BlockCopy> placed_targets(std::span<const Window> windows, int blocks,
                                      std::span<const BlockCopy> copies);
std::vector<BoundaryItem> placed_targets(std::span<const Window> windows, int blocks,
                                         std::span<const BoundaryItem> items);

}  // namespace keel
