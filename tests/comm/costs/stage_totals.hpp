#pragma once

// Traffic of a phase of a plan for all ranks, counted message by message.

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "comm/plans/plan.hpp"

namespace keel::test {

// Bytes are those of `columns` fields. Node maxima count messages to other nodes.
struct PhaseTotals {
    long messages = 0;
    long items = 0;
    long bytes = 0;
    long max_send_messages = 0;  // the most of one rank
    long max_receive_messages = 0;
    long max_send_bytes = 0;
    long max_receive_bytes = 0;
    long max_message_bytes = 0;
    long max_node_send_messages = 0;  // the most of all ranks of one node together
    long max_node_send_bytes = 0;
};
inline PhaseTotals totals(std::span<const Message> messages, const Topology& topology, std::size_t columns) {
    using Tally = std::map<int, long>;  // by rank or node
    const auto most = [](const Tally& tally) {
        long largest = 0;
        for (const auto& [key, sum] : tally) largest = std::max(largest, sum);
        return largest;
    };
    PhaseTotals all;
    Tally sends, receives, send_bytes, receive_bytes;
    Tally node_sends, node_send_bytes;
    for (const Message& message : messages) {
        const long bytes = static_cast<long>(message.values() * columns * sizeof(double));
        ++all.messages;
        all.items += static_cast<long>(message.items.size());
        all.bytes += bytes;
        all.max_message_bytes = std::max(all.max_message_bytes, bytes);
        sends[message.source] += 1;
        receives[message.target] += 1;
        send_bytes[message.source] += bytes;
        receive_bytes[message.target] += bytes;
        const int from = topology.node(message.source);
        if (topology.same_node(message.source, message.target)) continue;
        node_sends[from] += 1;
        node_send_bytes[from] += bytes;
    }
    all.max_send_messages = most(sends);
    all.max_receive_messages = most(receives);
    all.max_send_bytes = most(send_bytes);
    all.max_receive_bytes = most(receive_bytes);
    all.max_node_send_messages = most(node_sends);
    all.max_node_send_bytes = most(node_send_bytes);
    return all;
}

// The bytes that a straight exchange of one column sends twice between nodes, because several ranks of one
// need them. The requests are in ascending order.
inline long duplicate_bytes(std::span<const Request> requests, const Topology& topology) {
    std::set<std::pair<Item, int>> crossed;  // items and nodes
    long bytes = 0;
    for (const Request& r : requests)
        if (!topology.same_node(r.item.owner, r.rank) &&
            !crossed.insert({r.item, topology.node(r.rank)}).second)
            bytes += r.item.values * static_cast<long>(sizeof(double));
    return bytes;
}

}  // namespace keel::test
