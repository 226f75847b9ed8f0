#pragma once

// Which node each rank runs on.

#include <string>
#include <vector>

#include "comm/communicator.hpp"

namespace keel {

struct Topology {
    std::vector<int> node_of;  // by rank; nodes numbered from 0 in the order of their smallest rank
    bool detected = false;     // or virtual

    int ranks() const { return static_cast<int>(node_of.size()); }
    int nodes() const;
    bool same_node(int a, int b) const {
        return node_of[static_cast<std::size_t>(a)] == node_of[static_cast<std::size_t>(b)];
    }
    int local_rank(int rank) const;  // among the ranks of its node, by rank
    std::string describe() const;    // one line: nodes, ranks per node, how known
};

// The nodes that MPI reports. Collective.
Topology detect_topology(const Communicator& comm);

// Pretend nodes: ranks sliced into groups of `ranks_per_node`, the last one possibly smaller.
Topology virtual_topology(int ranks, int ranks_per_node);

}  // namespace keel
