#pragma once

// Fields of a level as values one after the other, for codes that have vectors of their own: the cells of the
// local boxes, box after box, x fastest.

#include <vector>

#include "solvers/multigrid/level.hpp"

namespace keel {

std::vector<double> cells_of(const Level& level, Field field);
void set_cells(Level& level, Field field, const std::vector<double>& values);

}  // namespace keel
