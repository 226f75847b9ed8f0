#pragma once

// Planning a pattern that no rank knows as a whole, such as a sparse matrix's: a rank knows which items it
// needs, and their owners.

#include <span>
#include <vector>

#include "comm/plans/inter_node_traffic.hpp"
#include "comm/plans/schemes.hpp"
#include "comm/ranks/communicator.hpp"
#include "comm/ranks/sparse_alltoallv.hpp"

namespace keel {

// Ranks that agree on plans, one after the other. It has two communicators, one of all ranks and one of those
// of a node, which are made once.
class Negotiator {
  public:
    // The topology must outlive this object. Collective, as all other functions.
    Negotiator(const Communicator& comm, const Topology& topology);

    // This rank's part of the plan of the pattern in which every rank needs the items that it gives here
    // (duplicates and its own are dropped). Ranks learn what their node needs and what others need of it, and
    // nodes agree with those they exchange with on who sends and receives; so a rank holds no more than the
    // requests that concern its node. Any scheme that needs no axes.
    Plan plan(std::span<const Item> needed, const SchemeOptions& options);
    // sparse_alltoallv() between all ranks.
    WordsByRank exchange(const WordsByRank& outgoing);

  private:
    // The same between nodes: all ranks of a node give the same words, by node, and get the same.
    WordsByRank exchange_of_nodes(const WordsByRank& outgoing);
    // The messages that leave or enter this node, on which it agrees with the nodes at their other ends.
    std::vector<NodeMessage> agree_on_messages(std::span<const Request> requests, const MessageSplit& split);

    Communicator comm_;  // a duplicate: words are received from any rank that sends some
    const Topology& topology_;
    int node_;
    Communicator node_comm_;
    int tag_ = 0;
};

}  // namespace keel
