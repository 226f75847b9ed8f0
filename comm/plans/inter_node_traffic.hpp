#pragma once

// Private to the node-aware schemes: what crosses from node to node, and by whose hands.

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "comm/plans/schemes.hpp"

namespace keel {

// Items that cross together: one message from a rank of one node to a rank of another.
struct NodeMessage {
    int from = 0;   // node
    int to = 0;     // node
    int index = 0;  // among the messages of this pair of nodes
    std::vector<Item> items;
    std::size_t values = 0;
    int sender = -1;
    int receiver = -1;
    int sequence = 0;
};

// The nodes of the ranks planned, and all ranks there.
struct NodesPlanned {
    std::vector<int> nodes;
    std::vector<int> ranks;
};
NodesPlanned nodes_planned(const Topology& topology, const RanksPlanned& whose);

// The requests that concern those ranks, in ascending order.
std::vector<Request> requests_planned(const Pattern& pattern, const Topology& topology,
                                      const RanksPlanned& whose);

// The plan that passes each message to its sender, across, and from its receiver to the ranks that need its
// items. The requests are those of the nodes planned, the messages all that leave or enter them.
Plan relay(std::span<const Request> requests, std::span<const NodeMessage> messages, const Topology& topology,
           const RanksPlanned& whose);

// How the traffic of a pair of nodes is split into messages.
struct MessageSplit {
    // Returns the most bytes of a message into a node of `ranks` ranks, given the bytes from each node that
    // sends to it; nothing: one message from each.
    std::function<std::optional<std::size_t>(std::span<const std::size_t> bytes, int ranks)> cap;
    std::size_t bytes_per_value = sizeof(double);  // in all columns
};

// A node splits the items that it receives and chooses the receivers, given all requests of its ranks; a
// sending node then chooses its senders, given all messages that leave it. Where sockets are known, receivers
// are preferred on the socket that needs most of a message, and senders on the one that owns most of it.
std::vector<NodeMessage> messages_into(int node, std::span<const Request> requests, const Topology& topology,
                                       const MessageSplit& split);
void assign_senders(std::span<NodeMessage> leaving, int node, const Topology& topology);

// The messages of a pattern, all worked out here, asking the pattern only for nodes that a question leads to.
class InterNodeTraffic {
  public:
    InterNodeTraffic(const Pattern& pattern, const Topology& topology, MessageSplit split)
        : pattern_(pattern), topology_(topology), split_(std::move(split)) {}

    // Complete messages that leave or enter the nodes, each once.
    std::vector<NodeMessage> of(std::span<const int> nodes);

  private:
    const std::vector<NodeMessage>& into(int node);    // all but their senders and sequence
    const std::vector<NodeMessage>& out_of(int node);  // complete

    const Pattern& pattern_;
    const Topology& topology_;
    MessageSplit split_;
    std::map<int, std::vector<NodeMessage>> into_;
    std::map<int, std::vector<NodeMessage>> out_of_;
};

// The plan of what crosses so.
Plan plan_inter_node(const Pattern& pattern, const Topology& topology, const MessageSplit& split,
                     const RanksPlanned& whose);

}  // namespace keel
