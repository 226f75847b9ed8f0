#pragma once

#include <string>

#include "comm/ranks/topology.hpp"
#include "miniapp/deck/parameters.hpp"

namespace keel {

// For reading: everything that `rank` sends and receives when it exchanges ghost cells, level by level, phase by phase.
std::string plan_text(const Parameters& parameters, const Topology& topology, int rank);

}  // namespace keel
