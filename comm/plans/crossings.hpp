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
struct Piece {
    int from = 0;   // node
    int to = 0;     // node
    int index = 0;  // among the pieces of this pair of nodes
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

// The plan that hands each piece to its sender, across, and from its receiver to the ranks that need its
// items. The requests are those of the nodes planned, the pieces all that leave or enter them.
Plan relay(std::span<const Request> requests, std::span<const Piece> pieces, const Topology& topology,
           const RanksPlanned& whose);

// The most bytes that a piece into a node of so many ranks may have, given the bytes it gets from each node
// that sends it something; nothing: one piece from each.
using Cap = std::function<std::optional<std::size_t>(std::span<const std::size_t> bytes, int ranks)>;

// How the traffic of a pair of nodes is cut.
struct Cut {
    Cap cap;
    std::size_t bytes_per_value = sizeof(double);  // of all columns
};

// A node decides the cuts and receivers of what it gets, given all requests of its ranks; a sending node then
// its senders, given all pieces that leave it. Where sockets are known receivers are, if it is their turn, on the socket that
// needs most of a piece, and senders on the one that owns most of it.
std::vector<Piece> pieces_into(int node, std::span<const Request> requests, const Topology& topology,
                               const Cut& cut);
void assign_senders(std::span<Piece> leaving, int node, const Topology& topology);

// The pieces of a pattern, all worked out here, asking the pattern only for nodes that a question leads to.
class Crossings {
  public:
    Crossings(const Pattern& pattern, const Topology& topology, Cut cut)
        : pattern_(pattern), topology_(topology), cut_(std::move(cut)) {}

    // Complete pieces that leave or enter the nodes, each once.
    std::vector<Piece> of(std::span<const int> nodes);

  private:
    const std::vector<Piece>& into(int node);    // all but their senders and sequence
    const std::vector<Piece>& out_of(int node);  // complete

    const Pattern& pattern_;
    const Topology& topology_;
    Cut cut_;
    std::map<int, std::vector<Piece>> into_;
    std::map<int, std::vector<Piece>> out_of_;
};

// The plan of what crosses so.
Plan plan_crossings(const Pattern& pattern, const Topology& topology, const Cut& cut,
                    const RanksPlanned& whose);

}  // namespace keel
