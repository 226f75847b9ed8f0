#include "comm/plans/inter_node_traffic.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace keel {
namespace {

// Fills messages in canonical order, greedily. An item is never split, so one longer than the cap is a
// message of its own.
std::vector<NodeMessage> split_into_messages(int from, int to, const std::vector<Item>& items,
                                             std::optional<std::size_t> most_values) {
    std::vector<NodeMessage> messages;
    for (const Item& item : items) {
        const auto values = static_cast<std::size_t>(item.values);
        if (messages.empty() || (most_values && messages.back().values + values > *most_values))
            messages.push_back({from, to, static_cast<int>(messages.size()), {}});
        messages.back().items.push_back(item);
        messages.back().values += values;
    }
    return messages;
}

// Returns the requests for the item; `requests` are in ascending order.
std::span<const Request> requests_for(const Item& item, std::span<const Request> requests) {
    const auto [begin, end] = std::equal_range(requests.begin(), requests.end(), Request{item, 0},
                                               [](auto& a, auto& b) { return a.item < b.item; });
    return {begin, end};
}

// The largest messages come first; among equal ones that of the lowest other node, then the first split.
void sort_by_size(std::vector<NodeMessage*>& messages, int NodeMessage::*other) {
    const auto key = [other](const NodeMessage* p) { return std::tuple(p->*other, p->index); };
    std::sort(messages.begin(), messages.end(), [&](const NodeMessage* a, const NodeMessage* b) {
        return a->values != b->values ? a->values > b->values : key(a) < key(b);
    });
}

// Values that a message carries, by the socket of a node that they come from or go to.
using BySocket = std::vector<std::size_t>;

// Assigns messages to the ranks of a node round-robin, in the order of `ranks`. Where the node has several
// sockets, a message goes to the next rank without one in this round on the socket that most of its values
// come from or go to. (Lockhart 2023, section 5.4.)
template <class ValuesOf>
void share_out(std::span<NodeMessage* const> messages, int NodeMessage::*hand, std::span<const int> ranks,
               const Topology& topology, const ValuesOf& values_of) {
    const bool by_socket = std::ranges::any_of(
        ranks, [&](int rank) { return topology.socket(rank) != topology.socket(ranks[0]); });
    std::vector<int> left;
    for (NodeMessage* const message : messages) {
        if (left.empty()) left.assign(ranks.begin(), ranks.end());
        auto next = left.begin();
        if (by_socket) {
            BySocket values(ranks.size());
            values_of(*message, values);
            next = std::ranges::max_element(
                left, {}, [&](int rank) { return values[static_cast<std::size_t>(topology.socket(rank))]; });
        }
        message->*hand = *next;
        left.erase(next);
    }
}

}  // namespace

NodesPlanned nodes_planned(const Topology& topology, const RanksPlanned& whose) {
    NodesPlanned planned;
    planned.nodes = whose.one ? std::vector{topology.node(*whose.one)} : numbers_below(topology.nodes());
    for (const int node : planned.nodes)
        planned.ranks.insert(planned.ranks.end(), topology.ranks_on(node).begin(),
                             topology.ranks_on(node).end());
    return planned;
}

std::vector<Request> requests_planned(const Pattern& pattern, const Topology& topology,
                                      const RanksPlanned& whose) {
    return requests_of(pattern, nodes_planned(topology, whose).ranks, whose.all());
}

// One phase after the other: transfers take twice the memory of the messages they become.
Plan relay(std::span<const Request> requests, std::span<const NodeMessage> messages, const Topology& topology,
           const RanksPlanned& whose) {
    // A list that grows takes its length twice; a single rank's is short.
    const auto room = [&](std::size_t most) {
        std::vector<Transfer> transfers;
        if (whose.all()) transfers.reserve(most);
        return transfers;
    };
    std::vector<Transfer> local = room(requests.size());
    for (const Request& r : requests)
        if (topology.same_node(r.item.owner, r.rank) && whose.concern(r.item.owner, r.rank))
            local.push_back({r.item.owner, r.rank, 0, r.item});
    Plan plan{{Phase::local, messages_of(std::move(local), whose)}, {}};
    std::size_t items = 0;
    for (const NodeMessage& message : messages) items += message.items.size();
    const auto add_phase = [&](Phase phase, const auto& add) {
        std::vector<Transfer> transfers = room(items);
        for (const NodeMessage& message : messages)
            for (const Item& item : message.items) add(transfers, message, item);
        plan.phases.push_back({phase, messages_of(std::move(transfers), whose)});
    };
    add_phase(Phase::local_s, [&](auto& transfers, const NodeMessage& message, const Item& item) {
        // The item goes once to each sender, however many nodes that sends it to.
        if (item.owner != message.sender && whose.concern(item.owner, message.sender))
            transfers.push_back({item.owner, message.sender, 0, item});
    });
    add_phase(Phase::global, [&](auto& transfers, const NodeMessage& message, const Item& item) {
        if (whose.concern(message.sender, message.receiver))
            transfers.push_back({message.sender, message.receiver, message.sequence, item});
    });
    add_phase(Phase::local_r, [&](auto& transfers, const NodeMessage& message, const Item& item) {
        const auto pass_on = [&](int rank) {
            if (rank != message.receiver && whose.concern(message.receiver, rank))
                transfers.push_back({message.receiver, rank, 0, item});
        };
        const std::span<const Request> needs = requests_for(item, requests);
        const auto here = topology.ranks_on(message.to);
        if (needs.size() <= here.size()) {
            for (const Request& need : needs)
                if (topology.node(need.rank) == message.to) pass_on(need.rank);
        } else {
            // An item that all ranks need crosses to all nodes; all of its requests for each of them are a
            // square.
            for (const int rank : here)
                if (std::ranges::binary_search(needs, rank, {}, &Request::rank)) pass_on(rank);
        }
    });
    return plan;
}

std::vector<NodeMessage> messages_into(int node, std::span<const Request> requests, const Topology& topology,
                                       const MessageSplit& split) {
    std::map<int, std::vector<Item>> from;  // distinct, ascending, by node
    for (const Request& r : requests) {
        if (topology.node(r.item.owner) == node || topology.node(r.rank) != node) continue;
        auto& items = from[topology.node(r.item.owner)];
        if (items.empty() || items.back() != r.item) items.push_back(r.item);
    }
    if (from.empty()) return {};
    std::vector<std::size_t> bytes;
    for (const auto& [other, items] : from) {
        bytes.push_back(0);
        for (const Item& item : items)
            bytes.back() += static_cast<std::size_t>(item.values) * split.bytes_per_value;
    }
    std::optional<std::size_t> most_values;
    if (const auto cap = split.cap(bytes, topology.size(node))) most_values = *cap / split.bytes_per_value;
    std::vector<NodeMessage> messages;
    for (const auto& [other, items] : from)
        for (NodeMessage& message : split_into_messages(other, node, items, most_values))
            messages.push_back(std::move(message));

    std::vector<NodeMessage*> order;
    for (NodeMessage& message : messages) order.push_back(&message);
    sort_by_size(order, &NodeMessage::from);
    share_out(order, &NodeMessage::receiver, topology.ranks_on(node), topology,
              [&](const NodeMessage& message, BySocket& values) {
                  for (const Item& item : message.items)
                      for (const Request& need : requests_for(item, requests))
                          if (topology.node(need.rank) == node)
                              values[static_cast<std::size_t>(topology.socket(need.rank))] +=
                                  static_cast<std::size_t>(item.values);
              });
    return messages;
}

void assign_senders(std::span<NodeMessage> leaving, int node, const Topology& topology) {
    std::vector<NodeMessage*> order;
    for (NodeMessage& message : leaving) order.push_back(&message);
    sort_by_size(order, &NodeMessage::to);
    const auto ranks = topology.ranks_on(node);
    const std::vector<int> from_the_last(ranks.rbegin(), ranks.rend());
    share_out(order, &NodeMessage::sender, from_the_last, topology,
              [&](const NodeMessage& message, BySocket& values) {
                  for (const Item& item : message.items)
                      values[static_cast<std::size_t>(topology.socket(item.owner))] +=
                          static_cast<std::size_t>(item.values);
              });
    std::map<std::pair<int, int>, int> messages;  // between sender and receiver so far
    for (NodeMessage& message : leaving) message.sequence = messages[{message.sender, message.receiver}]++;
}

const std::vector<NodeMessage>& InterNodeTraffic::into(int node) {
    const auto [found, is_new] = into_.try_emplace(node);
    if (is_new)
        found->second = messages_into(node, pattern_.needed_by(topology_.ranks_on(node)), topology_, split_);
    return found->second;
}

const std::vector<NodeMessage>& InterNodeTraffic::out_of(int node) {
    const auto [found, is_new] = out_of_.try_emplace(node);
    std::vector<NodeMessage>& messages = found->second;
    if (!is_new) return messages;
    std::set<int> others;
    for (const Request& r : pattern_.owned_by(topology_.ranks_on(node)))
        others.insert(topology_.node(r.rank));
    others.erase(node);
    for (const int other : others)
        for (const NodeMessage& message : into(other))
            if (message.from == node) messages.push_back(message);
    assign_senders(messages, node, topology_);
    return messages;
}

std::vector<NodeMessage> InterNodeTraffic::of(std::span<const int> nodes) {
    const std::set<int> inside(nodes.begin(), nodes.end());
    std::vector<NodeMessage> all;
    std::set<int> sources;
    for (const int node : nodes) {
        const std::vector<NodeMessage>& leaving = out_of(node);
        all.insert(all.end(), leaving.begin(), leaving.end());
        for (const NodeMessage& message : into(node))
            if (!inside.contains(message.from)) sources.insert(message.from);
    }
    for (const int source : sources)
        for (const NodeMessage& message : out_of(source))
            if (inside.contains(message.to)) all.push_back(message);
    return all;
}

Plan plan_inter_node(const Pattern& pattern, const Topology& topology, const MessageSplit& split,
                     const RanksPlanned& whose) {
    const NodesPlanned planned = nodes_planned(topology, whose);
    InterNodeTraffic traffic(pattern, topology, split);
    const std::vector<NodeMessage> messages = traffic.of(planned.nodes);
    return relay(requests_planned(pattern, topology, whose), messages, topology, whose);
}

}  // namespace keel
