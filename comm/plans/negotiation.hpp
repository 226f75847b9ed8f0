#pragma once

// Planning a pattern that nobody knows as a whole, such as a sparse matrix's: a rank knows what it needs, and
// whose it is.

#include <span>

#include "comm/plans/schemes.hpp"
#include "comm/ranks/communicator.hpp"

namespace keel {

// This rank's part of the plan of the pattern in which every rank needs the items that it gives here
// (duplicates and its own are dropped). Ranks learn what their node needs and what others need of it, and
// nodes agree with those they exchange with on who sends and receives; so a rank holds no more than the
// requests that concern its node. Any scheme that needs no axes. Collective.
Plan negotiate_plan(const Communicator& comm, const Topology& topology, std::span<const Item> needed,
                    const SchemeOptions& options);

}  // namespace keel
