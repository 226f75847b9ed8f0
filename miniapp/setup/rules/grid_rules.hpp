#pragma once

// The rules about grids: boxes, coarsening, smoothing, precision, the ranks of the bottom.

#include <string>
#include <vector>

#include "miniapp/deck/rules.hpp"
#include "miniapp/setup/grid_setup.hpp"

namespace keel {

// The domain, its coarsening and its solvers on `ranks` ranks.
void check_grids(Rules& rules, const GridUse& use, int ranks);

// The boxes alone; returns whether those of the domain are known.
bool check_boxes(Rules& rules, int ranks, bool one_for_each_rank);
// Boxes present in a domain that has passed check_boxes().
double boxes_in_all(const Parameters& parameters, int ranks);
std::string triple_text(const Index& triple);  // "[4,2,1]"

// Warnings about a run that may go on: a domain like a rod, ranks with more boxes than others.
std::vector<std::string> warnings_of_domain(const GridSetup& grids, bool shape_given);

}  // namespace keel
