#include "comm/costs/counts.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace keel {
namespace {

// Sums by rank, node, or pair of them.
template <class Key>
class Tally {
  public:
    void add(const Key& key, long amount) { sums_[key] += amount; }
    long size() const { return static_cast<long>(sums_.size()); }
    long most() const {
        long most = 0;
        for (const auto& [key, sum] : sums_) most = std::max(most, sum);
        return most;
    }
    const std::map<Key, long>& sums() const { return sums_; }

  private:
    std::map<Key, long> sums_;
};

using Pair = std::pair<int, int>;

long bytes_of(std::size_t values, std::size_t columns) {
    return static_cast<long>(values * columns * sizeof(double));
}

// How many partners the busiest has.
long most_partners(const Tally<Pair>& pairs) {
    Tally<int> partners;
    for (const auto& [pair, amount] : pairs.sums()) partners.add(pair.first, 1);
    return partners.most();
}

}  // namespace

StageTotals totals(std::span<const Message> messages, const Topology& topology, std::size_t columns) {
    StageTotals all;
    Tally<int> sends, receives, send_bytes, receive_bytes;
    Tally<int> node_sends, node_receives, node_send_bytes, node_receive_bytes;
    for (const Message& message : messages) {
        const long bytes = bytes_of(message.values(), columns);
        ++all.messages;
        all.items += static_cast<long>(message.items.size());
        all.bytes += bytes;
        all.max_message_bytes = std::max(all.max_message_bytes, bytes);
        sends.add(message.source, 1);
        receives.add(message.target, 1);
        send_bytes.add(message.source, bytes);
        receive_bytes.add(message.target, bytes);
        const int from = topology.node(message.source);
        const int to = topology.node(message.target);
        if (from == to) continue;
        node_sends.add(from, 1);
        node_receives.add(to, 1);
        node_send_bytes.add(from, bytes);
        node_receive_bytes.add(to, bytes);
    }
    all.max_send_messages = sends.most();
    all.max_receive_messages = receives.most();
    all.max_send_bytes = send_bytes.most();
    all.max_receive_bytes = receive_bytes.most();
    all.max_node_send_messages = node_sends.most();
    all.max_node_receive_messages = node_receives.most();
    all.max_node_send_bytes = node_send_bytes.most();
    all.max_node_receive_bytes = node_receive_bytes.most();
    return all;
}

PatternCounts counts(std::span<const Request> requests, const Topology& topology, std::size_t columns) {
    Tally<Pair> messages, rank_to_node, node_pair_bytes, standard_node_pair_bytes, node_pair_messages;
    Tally<int> standard_bytes, bytes, node_bytes, standard_node_bytes;
    PatternCounts all;
    const Item* last = nullptr;
    std::set<int> crossed_to;  // nodes that the item goes to, so far
    for (const Request& r : requests) {
        const int owner = r.item.owner;
        const int from = topology.node(owner);
        const int to = topology.node(r.rank);
        if (from == to) continue;
        if (last == nullptr || *last != r.item) crossed_to.clear();
        last = &r.item;
        const long amount = bytes_of(static_cast<std::size_t>(r.item.values), columns);
        messages.add({owner, r.rank}, 1);
        standard_bytes.add(owner, amount);
        standard_node_bytes.add(from, amount);
        standard_node_pair_bytes.add({from, to}, amount);
        if (!crossed_to.insert(to).second) {
            all.duplicate_bytes += amount;
            continue;
        }
        rank_to_node.add({owner, to}, 1);
        bytes.add(owner, amount);
        node_bytes.add(from, amount);
        node_pair_bytes.add({from, to}, amount);
    }
    for (const auto& [ranks, items] : messages.sums())
        node_pair_messages.add({topology.node(ranks.first), topology.node(ranks.second)}, 1);
    all.messages = most_partners(messages);
    all.bytes = standard_bytes.most();
    all.bytes_per_rank = bytes.most();
    all.bytes_per_node = node_bytes.most();
    all.standard_bytes_per_node = standard_node_bytes.most();
    all.nodes_per_rank = most_partners(rank_to_node);
    all.nodes_per_node = most_partners(node_pair_bytes);
    all.messages_per_node_pair = node_pair_messages.most();
    all.bytes_per_node_pair = node_pair_bytes.most();
    all.standard_bytes_per_node_pair = standard_node_pair_bytes.most();
    all.sending_ranks = standard_bytes.size();
    return all;
}

}  // namespace keel
