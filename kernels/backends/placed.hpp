#pragma once

// Items of boxes as items of the blocks that the boxes lie in (kernels/layout/storage.hpp).

#include <span>
#include <vector>

#include "kernels/bodies/boundary.hpp"
#include "kernels/bodies/pack.hpp"
#include "kernels/layout/storage.hpp"

namespace keel {

// Left out are copies of a cell to itself, from one box of a block to the ghosts of another, and items whose
// target in a box lies in that of another.
std::vector<BlockCopy> placed(std::span<const Window> windows, int blocks, std::span<const BlockCopy> copies);
std::vector<BoundaryItem> placed(std::span<const Window> windows, int blocks,
                                 std::span<const BoundaryItem> items);

}  // namespace keel
