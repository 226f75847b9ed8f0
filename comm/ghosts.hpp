#pragma once

#include <vector>

#include "comm/pattern.hpp"
#include "kernels/boundary.hpp"
#include "kernels/layout.hpp"
#include "kernels/neighbours.hpp"

namespace keel {

// The ghost cells, `depth` layers deep, of the layout's local boxes and the cells they come from. Depth may not
// exceed the box width. Needs are ordered by receiving box, then by direction.
Pattern ghost_pattern(const Layout& layout, int depth, Neighbours neighbours);

// The ghost cells of the local boxes that lie outside the domain, one layer, all 26 directions.
std::vector<BoundaryItem> boundary_ghosts(const Layout& layout);

}  // namespace keel
