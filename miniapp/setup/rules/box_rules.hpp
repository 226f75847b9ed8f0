#pragma once

// The rules about boxes: how many there are, and where.

#include <string>
#include <vector>

#include "miniapp/deck/rules.hpp"
#include "miniapp/setup/grid_setup.hpp"

namespace keel {

std::string triple_text(const Index& triple);  // "[4,2,1]"

// Boxes present in a domain that has passed check_boxes().
double boxes_in_all(const Parameters& parameters, int ranks);

// Whether the boxes of the domain are known.
bool check_boxes(Rules& rules, int ranks, bool one_for_each_rank);

// Warnings about a run that may go on: a domain like a rod, ranks with more boxes than others.
std::vector<std::string> warnings_of_domain(const GridSetup& grids, bool shape_given);

}  // namespace keel
