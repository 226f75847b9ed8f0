#include "comm/plans/negotiation.hpp"

#include <map>

#include "kernels/check.hpp"

namespace keel {

namespace {

using Words = std::vector<std::int64_t>;

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

Negotiator::Negotiator(const Communicator& comm, const Topology& topology)
    : comm_(comm.duplicate()),
      topology_(topology),
      node_(topology.node(comm.rank())),
      node_comm_(comm.split(node_)) {
    check_equal(topology.ranks(), comm.size(), "every rank has a node");
}

// The tags alternate: a rank that has received all may send the words of the next exchange to one that has
// not, but none of the one after.
WordsByRank Negotiator::exchange(const WordsByRank& outgoing) {
    tag_ = 1 - tag_;
    return sparse_alltoallv(comm_, outgoing, tag_);
}

WordsByRank Negotiator::exchange_of_nodes(const WordsByRank& outgoing) {
    WordsByRank by_rank;
    if (node_comm_.rank() == 0)
        for (const auto& [node, words] : outgoing) by_rank[topology_.ranks_on(node).front()] = words;
    Words received;  // node, number of words, words; known to the first rank, then to all
    for (const auto& [rank, words] : exchange(by_rank)) {
        received.insert(received.end(), {topology_.node(rank), static_cast<std::int64_t>(words.size())});
        received.insert(received.end(), words.begin(), words.end());
    }
    received = node_comm_.all_gather(received);
    WordsByRank by_node;
    for (auto at = received.begin(); at != received.end(); at += 2 + at[1])
        by_node[static_cast<int>(at[0])].assign(at + 2, at + 2 + at[1]);
    return by_node;
}

// A receiving node sends to each node that sends to it the number of items and the receiver of each message;
// a sending node answers with the senders.
std::vector<NodeMessage> Negotiator::agree_on_messages(std::span<const Request> requests,
                                                       const MessageSplit& split) {
    std::vector<NodeMessage> entering = messages_into(node_, requests, topology_, split);
    WordsByRank proposals;
    for (const NodeMessage& message : entering) {
        Words& words = proposals[message.from];
        words.insert(words.end(), {static_cast<std::int64_t>(message.items.size()), message.receiver});
    }

    std::map<int, std::vector<Item>> wanted;  // from this node, by node: distinct, ascending
    for (const Request& r : requests) {
        const int node = topology_.node(r.rank);
        if (node == node_) continue;
        if (auto& items = wanted[node]; items.empty() || items.back() != r.item) items.push_back(r.item);
    }
    std::vector<NodeMessage> leaving;
    for (const auto& [node, words] : exchange_of_nodes(proposals)) {
        const std::vector<Item>& items = wanted.at(node);
        auto first = items.begin();
        for (std::size_t n = 0; n < words.size(); n += 2) {
            NodeMessage& message = leaving.emplace_back();
            message.from = node_;
            message.to = node;
            message.index = static_cast<int>(n / 2);
            message.items.assign(first, first + words[n]);
            message.receiver = static_cast<int>(words[n + 1]);
            for (const Item& item : message.items) message.values += static_cast<std::size_t>(item.values);
            first += words[n];
        }
        check(first == items.end(), "two nodes disagree on what crosses between them");
    }
    assign_senders(leaving, node_, topology_);

    WordsByRank answers;
    for (const NodeMessage& message : leaving) {
        Words& words = answers[message.to];
        words.insert(words.end(), {message.sender, message.sequence});
    }
    const WordsByRank agreed = exchange_of_nodes(answers);
    for (NodeMessage& message : entering) {
        const auto at = 2 * static_cast<std::size_t>(message.index);
        message.sender = static_cast<int>(agreed.at(message.from)[at]);
        message.sequence = static_cast<int>(agreed.at(message.from)[at + 1]);
    }
    leaving.insert(leaving.end(), entering.begin(), entering.end());
    return leaving;
}

Plan Negotiator::plan(std::span<const Item> needed, const SchemeOptions& options) {
    const int rank = comm_.rank();
    Words own;
    own.reserve(4 * needed.size());
    for (const Item& item : needed)
        if (item.owner != rank) write(own, {item, rank});
    Words known = node_comm_.all_gather(own);
    WordsByRank asked;  // requests to other nodes, by node
    for (const Request& r : read_requests(known))
        if (const int node = topology_.node(r.item.owner); node != node_) write(asked[node], r);
    for (const auto& [node, words] : exchange_of_nodes(asked))
        known.insert(known.end(), words.begin(), words.end());
    const std::vector<Request> requests = read_requests(known);  // needed or owned by ranks of this node

    const auto split = planner(options.scheme).split;
    if (!split) return make_plan(ListedPattern(requests), topology_, options, rank);
    Plan plan = relay(requests, agree_on_messages(requests, split(options)), topology_, rank);
    plan.carrier = options.carrier;
    return plan;
}

}  // namespace keel
