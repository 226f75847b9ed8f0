#include "comm/plans/negotiation.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "comm/plans/crossings.hpp"
#include "comm/ranks/sparse_exchange.hpp"
#include "kernels/check.hpp"

namespace keel {

using Words = std::vector<std::int64_t>;

namespace {

void write(Words& words, const Request& r) {
    words.insert(words.end(), {r.item.owner, r.item.values, r.item.name, r.rank});
}

std::vector<Request> read_requests(const Words& words) {
    std::vector<Request> requests;
    requests.reserve(words.size() / 4);
    for (std::size_t at = 0; at < words.size(); at += 4)
        requests.push_back({{static_cast<int>(words[at]), static_cast<int>(words[at + 1]), words[at + 2]},
                            static_cast<int>(words[at + 3])});
    sort_distinct(requests);
    return requests;
}

}  // namespace

// The ranks of a node as one partner in talks: its first rank speaks, all know what was said.
class Delegation {
  public:
    Delegation(const Communicator& comm, const Topology& topology)
        : comm_(comm.duplicate()),
          topology_(topology),
          node_(topology.node(comm.rank())),
          colleagues_(comm.split(node_)) {}

    int node() const { return node_; }
    // Of any rank to any other.
    Letters exchange_of_ranks(const Letters& outgoing) {
        tag_ = 1 - tag_;  // who is through may send the next letters to who is not, but none after those
        return exchange_letters(comm_, outgoing, tag_);
    }
    // What all ranks of the node have to say.
    Words gather(const Words& own) const { return colleagues_.all_gather(own); }

    // Letters to other nodes, which all ranks of a node wrote alike; returns those that came, by node.
    // Collective over all nodes.
    Letters exchange(const Letters& to_nodes) {
        Letters outgoing;
        if (colleagues_.rank() == 0)
            for (const auto& [node, letter] : to_nodes) outgoing[topology_.ranks_on(node).front()] = letter;
        Words received;  // sender, length, letter; known to the first rank, then to all
        for (const auto& [rank, letter] : exchange_of_ranks(outgoing)) {
            received.insert(received.end(), {topology_.node(rank), static_cast<std::int64_t>(letter.size())});
            received.insert(received.end(), letter.begin(), letter.end());
        }
        received = gather(received);
        Letters letters;
        for (auto at = received.begin(); at != received.end();) {
            Words& letter = letters[static_cast<int>(at[0])];
            letter.assign(at + 2, at + 2 + at[1]);
            at += 2 + at[1];
        }
        return letters;
    }

  private:
    Communicator comm_;  // of its own: letters are taken from whoever sends some
    const Topology& topology_;
    int node_;
    Communicator colleagues_;
    int tag_ = 0;
};

namespace {

// Every receiving node tells each node that sends to it how it cut what comes, and who receives; a sending
// node answers with who sends.
std::vector<Piece> negotiate_pieces(Delegation& delegation, const Topology& topology,
                                    std::span<const Request> requests, const Cut& cut) {
    const int here = delegation.node();
    std::vector<Piece> entering = pieces_into(here, requests, topology, cut);
    Letters proposals;
    for (const Piece& piece : entering) {
        Words& letter = proposals[piece.from];
        letter.insert(letter.end(), {static_cast<std::int64_t>(piece.items.size()), piece.receiver});
    }

    std::map<int, std::vector<Item>> wanted;  // of this node, by node: distinct, ascending
    for (const Request& r : requests) {
        const int node = topology.node(r.rank);
        if (node == here) continue;
        if (auto& items = wanted[node]; items.empty() || items.back() != r.item) items.push_back(r.item);
    }
    std::vector<Piece> leaving;
    for (const auto& [node, letter] : delegation.exchange(proposals)) {
        const std::vector<Item>& items = wanted.at(node);
        auto first = items.begin();
        for (std::size_t n = 0; n < letter.size(); n += 2) {
            Piece& piece = leaving.emplace_back();
            piece.from = here;
            piece.to = node;
            piece.index = static_cast<int>(n / 2);
            piece.items.assign(first, first + letter[n]);
            piece.receiver = static_cast<int>(letter[n + 1]);
            for (const Item& item : piece.items) piece.values += static_cast<std::size_t>(item.values);
            first += letter[n];
        }
        check(first == items.end(), "two nodes disagree on what crosses between them");
    }
    assign_senders(leaving, here, topology);

    Letters answers;
    for (const Piece& piece : leaving) {
        Words& letter = answers[piece.to];
        letter.insert(letter.end(), {piece.sender, piece.sequence});
    }
    const Letters agreed = delegation.exchange(answers);
    for (Piece& piece : entering) {
        const auto at = 2 * static_cast<std::size_t>(piece.index);
        piece.sender = static_cast<int>(agreed.at(piece.from)[at]);
        piece.sequence = static_cast<int>(agreed.at(piece.from)[at + 1]);
    }
    leaving.insert(leaving.end(), entering.begin(), entering.end());
    return leaving;
}

}  // namespace

Negotiator::Negotiator(const Communicator& comm, const Topology& topology)
    : rank_(comm.rank()), topology_(topology), node_(std::make_unique<Delegation>(comm, topology)) {
    check_equal(topology.ranks(), comm.size(), "every rank has a node");
}

Negotiator::~Negotiator() = default;

Letters Negotiator::exchange(const Letters& outgoing) {
    return node_->exchange_of_ranks(outgoing);
}

Plan Negotiator::plan(std::span<const Item> needed, const SchemeOptions& options) {
    Delegation& delegation = *node_;
    Words own;
    own.reserve(4 * needed.size());
    for (const Item& item : needed)
        if (item.owner != rank_) write(own, {item, rank_});
    Words known = delegation.gather(own);
    Letters asked;  // of other nodes
    for (const Request& r : read_requests(known))
        if (const int node = topology_.node(r.item.owner); node != delegation.node()) write(asked[node], r);
    for (const auto& [node, letter] : delegation.exchange(asked))
        known.insert(known.end(), letter.begin(), letter.end());
    const std::vector<Request> requests = read_requests(known);  // that concern the ranks of this node

    if (const auto cut = planner(options.scheme).cut)
        return relay(requests, negotiate_pieces(delegation, topology_, requests, cut(options)), topology_,
                     rank_);
    return make_plan(ListedPattern(requests), topology_, options, rank_);
}

Plan negotiate_plan(const Communicator& comm, const Topology& topology, std::span<const Item> needed,
                    const SchemeOptions& options) {
    return Negotiator(comm, topology).plan(needed, options);
}

}  // namespace keel
