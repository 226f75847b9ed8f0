#pragma once

// The rules about boxes: how many there are, and where.

#include <string>
#include <vector>

#include "miniapp/deck/rules.hpp"
#include "miniapp/setup/grid_setup.hpp"

namespace keel {

std::string triple_text(const Index& triple);  // "[4,2,1]"

// Of a domain that can be told.
double boxes_in_all(const Parameters& parameters, int ranks);

// Whether its boxes can be told.
bool check_boxes(Rules& rules, int ranks, bool one_for_each_rank);

// What is odd about a run that may go on: a domain like a rod, ranks with more boxes than others.
std::vector<std::string> warnings_of_domain(const GridSetup& grids, bool shape_given);

}  // namespace keel
