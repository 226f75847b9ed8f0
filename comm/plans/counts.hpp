#pragma once

// The traffic between nodes that a pattern makes any plan carry: the numbers that closed forms are made from.

#include <span>

#include "comm/patterns/pattern.hpp"
#include "comm/ranks/topology.hpp"

namespace keel {

// Maxima over ranks or nodes, of what is sent to other nodes unless said otherwise, in bytes of one column;
// in brackets the letters of the papers. An item that several ranks of a node need has duplicates, which
// node-aware plans do not send.
struct PatternCounts {
    double messages = 0;             // from a rank straight to the ranks that need them (m)
    double bytes = 0;                // in these messages (s)
    double bytes_per_rank = 0;       // the same without duplicates (s_proc)
    double bytes_per_node = 0;       // without duplicates (s_node)
    double bytes_per_node_sent = 0;  // the same with them: what leaves a node by the standard scheme
    double nodes_per_rank = 0;       // that a rank sends to (m_proc->node)
    // Nodes that a node sends to (m_node->node). The page says "maximum number of messages between two
    // nodes", which would be 1 for the 3-step scheme.
    double nodes_per_node = 0;
    double bytes_per_node_pair = 0;  // from one node to another, without duplicates (s_node->node)

    friend bool operator==(const PatternCounts&, const PatternCounts&) = default;
};
// `requests` are all of the pattern's, in ascending order.
PatternCounts counts(std::span<const Request> requests, const Topology& topology);

}  // namespace keel
