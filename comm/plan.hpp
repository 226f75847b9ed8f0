#pragma once

// One rank's part of a communication scheme: who sends what to whom. Pure data, made by a planner, run by an
// exchange. Lengths are for one field; a span of fields multiplies them.

#include <cstddef>
#include <vector>

#include "comm/pattern.hpp"
#include "comm/topology.hpp"
#include "kernels/ledger.hpp"

namespace keel {

struct Message {
    int peer;
    std::vector<Need> needs;
    std::size_t offset = 0;  // values before it in the rank's buffer of all messages of that direction
    std::size_t values = 0;
};

struct Plan {
    int rank = 0;
    std::vector<Message> sends;     // by ascending peer
    std::vector<Message> receives;  // by ascending peer
    std::vector<Need> copies;

    // Everything this rank sends when the plan is run once for `fields` fields.
    Traffic traffic(const Topology& topology, std::size_t fields) const;
    std::size_t send_values() const;
    std::size_t receive_values() const;
};

// The standard scheme: every rank sends directly to every rank that needs something, one message each.
Plan plan_standard(const Pattern& pattern);

}  // namespace keel
