#pragma once

// What a plan moves, and what a pattern makes any plan move: the numbers that predictions of time are made from.

#include <span>

#include "comm/plans/plan.hpp"

namespace keel {

// Of one phase of a plan for all ranks. Bytes are those of `columns` fields. Node maxima count messages to other nodes.
struct StageTotals {
    long messages = 0;
    long items = 0;
    long bytes = 0;
    long max_send_messages = 0;  // of one rank
    long max_receive_messages = 0;
    long max_send_bytes = 0;
    long max_receive_bytes = 0;
    long max_message_bytes = 0;
    long max_node_send_messages = 0;  // of all ranks of one node together
    long max_node_receive_messages = 0;
    long max_node_send_bytes = 0;
    long max_node_receive_bytes = 0;

    friend bool operator==(const StageTotals&, const StageTotals&) = default;
};
StageTotals totals(std::span<const Message> messages, const Topology& topology, std::size_t columns);

// Of a whole pattern, between nodes only: maxima over ranks or nodes, as the models' formulas want them. `standard` has
// the duplicates in that node-aware plans remove.
struct PatternCounts {
    long messages = 0;        // m: standard messages a rank sends
    long bytes = 0;           // s: and their bytes
    long bytes_per_rank = 0;  // s_proc: the same without duplicates
    long bytes_per_node = 0;  // s_node: without duplicates
    long standard_bytes_per_node = 0;
    long nodes_per_rank = 0;          // m_proc->node: nodes that a rank sends to
    long nodes_per_node = 0;          // m_node->node: nodes that a node sends to
    long messages_per_node_pair = 0;  // standard messages from one node to another
    long bytes_per_node_pair = 0;     // s_node->node: without duplicates
    long standard_bytes_per_node_pair = 0;
    long duplicate_bytes = 0;  // of all ranks together
    long sending_ranks = 0;
};
// `requests` are all of the pattern's, in ascending order.
PatternCounts counts(std::span<const Request> requests, const Topology& topology, std::size_t columns);

}  // namespace keel
