#include "comm/plans/crossings.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace keel {
namespace {

// In canonical order, greedily: an item is never cut, so one that is longer than the cap is a piece of its
// own.
std::vector<Piece> cut_into_pieces(int from, int to, const std::vector<Item>& items,
                                   std::optional<std::size_t> most_values) {
    std::vector<Piece> pieces;
    for (const Item& item : items) {
        const auto values = static_cast<std::size_t>(item.values);
        if (pieces.empty() || (most_values && pieces.back().values + values > *most_values))
            pieces.push_back({from, to, static_cast<int>(pieces.size()), {}});
        pieces.back().items.push_back(item);
        pieces.back().values += values;
    }
    return pieces;
}

// Those of the requests, which are in ascending order, that are for the item.
std::span<const Request> requests_for(const Item& item, std::span<const Request> requests) {
    const auto [begin, end] = std::equal_range(requests.begin(), requests.end(), Request{item, 0},
                                               [](auto& a, auto& b) { return a.item < b.item; });
    return {begin, end};
}

// The largest first; of equal ones that of the lowest other node, then the first cut.
void sort_by_size(std::vector<Piece*>& pieces, int Piece::*other) {
    const auto key = [other](const Piece* p) { return std::tuple(p->*other, p->index); };
    std::sort(pieces.begin(), pieces.end(), [&](const Piece* a, const Piece* b) {
        return a->values != b->values ? a->values > b->values : key(a) < key(b);
    });
}

// Values of what a piece carries, by the socket of a node that they come from or go to.
using BySocket = std::vector<std::size_t>;

// The node's ranks, which come in the order of their turns, share the pieces out: each has its turn before one has
// another. Where the node is known to have several sockets, a piece takes of the ranks that are left in the turn the next on the
// socket that it has most to do with, so that least crosses between sockets. (Lockhart 2023, section 5.4.)
template <class ValuesOf>
void share_out(std::span<Piece* const> pieces, int Piece::*hand, std::span<const int> ranks,
               const Topology& topology, const ValuesOf& values_of) {
    const bool by_socket = std::ranges::any_of(
        ranks, [&](int rank) { return topology.socket(rank) != topology.socket(ranks[0]); });
    std::vector<int> left;
    for (Piece* const piece : pieces) {
        if (left.empty()) left.assign(ranks.begin(), ranks.end());
        auto next = left.begin();
        if (by_socket) {
            BySocket values(ranks.size());
            values_of(*piece, values);
            next = std::ranges::max_element(
                left, {}, [&](int rank) { return values[static_cast<std::size_t>(topology.socket(rank))]; });
        }
        piece->*hand = *next;
        left.erase(next);
    }
}

}  // namespace

NodesPlanned nodes_planned(const Topology& topology, const RanksPlanned& whose) {
    NodesPlanned planned;
    if (whose.all()) {
        planned.nodes.resize(static_cast<std::size_t>(topology.nodes()));
        std::iota(planned.nodes.begin(), planned.nodes.end(), 0);
    } else {
        for (const int rank : whose.some()) planned.nodes.push_back(topology.node(rank));
        sort_distinct(planned.nodes);
    }
    for (const int node : planned.nodes)
        planned.ranks.insert(planned.ranks.end(), topology.ranks_on(node).begin(),
                             topology.ranks_on(node).end());
    return planned;
}

std::vector<Request> requests_planned(const Pattern& pattern, const Topology& topology,
                                      const RanksPlanned& whose) {
    const NodesPlanned planned = nodes_planned(topology, whose);
    // What all ranks together own is what they need.
    return whose.all() ? pattern.needed_by(planned.ranks) : requests_of(pattern, planned.ranks);
}

// One phase after the other: transfers take twice the memory of the messages they become.
Plan relay(std::span<const Request> requests, std::span<const Piece> pieces, const Topology& topology,
           const RanksPlanned& whose) {
    // A list that grows takes its length twice; of one rank's plan it is short.
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
    for (const Piece& piece : pieces) items += piece.items.size();
    const auto add_stage = [&](Phase phase, const auto& add) {
        std::vector<Transfer> transfers = room(items);
        for (const Piece& piece : pieces)
            for (const Item& item : piece.items) add(transfers, piece, item);
        plan.stages.push_back({phase, messages_of(std::move(transfers), whose)});
    };
    add_stage(Phase::local_s, [&](auto& transfers, const Piece& piece, const Item& item) {
        // Once to each sender, however many nodes it sends the item to.
        if (item.owner != piece.sender && whose.concern(item.owner, piece.sender))
            transfers.push_back({item.owner, piece.sender, 0, item});
    });
    add_stage(Phase::global, [&](auto& transfers, const Piece& piece, const Item& item) {
        if (whose.concern(piece.sender, piece.receiver))
            transfers.push_back({piece.sender, piece.receiver, piece.sequence, item});
    });
    add_stage(Phase::local_r, [&](auto& transfers, const Piece& piece, const Item& item) {
        const auto pass_on = [&](int rank) {
            if (rank != piece.receiver && whose.concern(piece.receiver, rank))
                transfers.push_back({piece.receiver, rank, 0, item});
        };
        const std::span<const Request> needs = requests_for(item, requests);
        const auto here = topology.ranks_on(piece.to);
        if (needs.size() <= here.size()) {
            for (const Request& need : needs)
                if (topology.node(need.rank) == piece.to) pass_on(need.rank);
        } else {
            // An item that all ranks need crosses to all nodes; all of its requests for each of them are a
            // square.
            for (const int rank : here)
                if (std::ranges::binary_search(needs, rank, {}, &Request::rank)) pass_on(rank);
        }
    });
    return plan;
}

std::vector<Piece> pieces_into(int node, std::span<const Request> requests, const Topology& topology,
                               const Cut& how) {
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
            bytes.back() += static_cast<std::size_t>(item.values) * how.bytes_per_value;
    }
    std::optional<std::size_t> most_values;
    if (const auto cap = how.cap(bytes, topology.size(node))) most_values = *cap / how.bytes_per_value;
    std::vector<Piece> pieces;
    for (const auto& [other, items] : from)
        for (Piece& piece : cut_into_pieces(other, node, items, most_values))
            pieces.push_back(std::move(piece));

    std::vector<Piece*> order;
    for (Piece& piece : pieces) order.push_back(&piece);
    sort_by_size(order, &Piece::from);
    share_out(order, &Piece::receiver, topology.ranks_on(node), topology,
              [&](const Piece& piece, BySocket& values) {
                  for (const Item& item : piece.items)
                      for (const Request& need : requests_for(item, requests))
                          if (topology.node(need.rank) == node)
                              values[static_cast<std::size_t>(topology.socket(need.rank))] +=
                                  static_cast<std::size_t>(item.values);
              });
    return pieces;
}

void assign_senders(std::span<Piece> leaving, int node, const Topology& topology) {
    std::vector<Piece*> order;
    for (Piece& piece : leaving) order.push_back(&piece);
    sort_by_size(order, &Piece::to);
    const auto ranks = topology.ranks_on(node);
    const std::vector<int> from_the_last(ranks.rbegin(), ranks.rend());
    share_out(order, &Piece::sender, from_the_last, topology, [&](const Piece& piece, BySocket& values) {
        for (const Item& item : piece.items)
            values[static_cast<std::size_t>(topology.socket(item.owner))] +=
                static_cast<std::size_t>(item.values);
    });
    std::map<std::pair<int, int>, int> messages;  // so far between sender and receiver
    for (Piece& piece : leaving) piece.sequence = messages[{piece.sender, piece.receiver}]++;
}

const std::vector<Piece>& Crossings::into(int node) {
    const auto [found, is_new] = into_.try_emplace(node);
    if (is_new)
        found->second = pieces_into(node, pattern_.needed_by(topology_.ranks_on(node)), topology_, cut_);
    return found->second;
}

const std::vector<Piece>& Crossings::out_of(int node) {
    const auto [found, is_new] = out_of_.try_emplace(node);
    std::vector<Piece>& pieces = found->second;
    if (!is_new) return pieces;
    std::set<int> others;
    for (const Request& r : pattern_.owned_by(topology_.ranks_on(node)))
        others.insert(topology_.node(r.rank));
    others.erase(node);
    for (const int other : others)
        for (const Piece& piece : into(other))
            if (piece.from == node) pieces.push_back(piece);
    assign_senders(pieces, node, topology_);
    return pieces;
}

std::vector<Piece> Crossings::of(std::span<const int> nodes) {
    const std::set<int> inside(nodes.begin(), nodes.end());
    std::vector<Piece> all;
    std::set<int> sources;
    for (const int node : nodes) {
        const std::vector<Piece>& leaving = out_of(node);
        all.insert(all.end(), leaving.begin(), leaving.end());
        for (const Piece& piece : into(node))
            if (!inside.contains(piece.from)) sources.insert(piece.from);
    }
    for (const int source : sources)
        for (const Piece& piece : out_of(source))
            if (inside.contains(piece.to)) all.push_back(piece);
    return all;
}

Plan plan_crossings(const Pattern& pattern, const Topology& topology, const Cut& cut,
                    const RanksPlanned& whose) {
    const NodesPlanned planned = nodes_planned(topology, whose);
    Crossings crossings(pattern, topology, cut);
    const std::vector<Piece> pieces = crossings.of(planned.nodes);
    return relay(requests_planned(pattern, topology, whose), pieces, topology, whose);
}

}  // namespace keel
