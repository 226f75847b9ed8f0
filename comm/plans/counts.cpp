#include "comm/plans/counts.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace keel {
namespace {

// Sums by rank, node, or pair of them.
template <class Key>
using Tally = std::map<Key, double>;
using RankPair = std::pair<int, int>;  // likewise of nodes, or a rank and a node

template <class Key>
double most(const Tally<Key>& tally) {
    double most = 0;
    for (const auto& [key, sum] : tally) most = std::max(most, sum);
    return most;
}

// How many partners the busiest has.
double most_partners(const Tally<RankPair>& pairs) {
    Tally<int> partners;
    for (const auto& [pair, amount] : pairs) partners[pair.first] += 1;
    return most(partners);
}

}  // namespace

PatternCounts counts(std::span<const Request> requests, const Topology& topology) {
    Tally<RankPair> rank_to_rank, rank_to_node, node_to_node;
    Tally<int> with_duplicates, node_with_duplicates, by_rank, by_node;
    const Item* last = nullptr;
    std::set<int> crossed_to;  // nodes that the item goes to, so far
    for (const Request& r : requests) {
        const int owner = r.item.owner;
        const int from = topology.node(owner);
        const int to = topology.node(r.rank);
        const double bytes = r.item.values * static_cast<double>(sizeof(double));
        if (from == to) continue;
        if (last == nullptr || *last != r.item) crossed_to.clear();
        last = &r.item;
        rank_to_rank[{owner, r.rank}] += bytes;
        with_duplicates[owner] += bytes;
        node_with_duplicates[from] += bytes;
        if (!crossed_to.insert(to).second) continue;
        rank_to_node[{owner, to}] += bytes;
        node_to_node[{from, to}] += bytes;
        by_rank[owner] += bytes;
        by_node[from] += bytes;
    }
    return {.messages = most_partners(rank_to_rank),
            .bytes = most(with_duplicates),
            .bytes_per_rank = most(by_rank),
            .bytes_per_node = most(by_node),
            .bytes_per_node_sent = most(node_with_duplicates),
            .nodes_per_rank = most_partners(rank_to_node),
            .nodes_per_node = most_partners(node_to_node),
            .bytes_per_node_pair = most(node_to_node)};
}

}  // namespace keel
