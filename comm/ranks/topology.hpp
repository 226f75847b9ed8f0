#pragma once

// The node that each rank runs on and, if known, the socket.

#include <array>
#include <span>
#include <string>
#include <vector>

#include "comm/ranks/communicator.hpp"
#include "comm/ranks/locality.hpp"
#include "kernels/names.hpp"

namespace keel {

// The source of the nodes: MPI, comm.ranks_per_node or comm.node_map.
enum class NodeSource { detected, slices, map };
constexpr auto names_of(NodeSource) {
    return std::array{"detected", "virtual: comm.ranks_per_node", "virtual: comm.node_map"};
}

// The source of the sockets, if they are known: bindings of processes, comm.ranks_per_socket, the machine
// file or comm.node_map.
enum class SocketSource { unknown, detected, slices, machine, map };
constexpr auto names_of(SocketSource) {
    return std::array{"unknown", "detected", "virtual: comm.ranks_per_socket", "virtual: comm.machine",
                      "virtual: comm.node_map"};
}

// Nodes are numbered from 0 in the order of their smallest rank. They may differ in size and hold any ranks.
class Topology {
  public:
    Topology() = default;
    // One label per rank; ranks with equal labels share a node.
    Topology(std::span<const int> labels, NodeSource source);

    int ranks() const { return static_cast<int>(node_of_.size()); }
    int nodes() const { return static_cast<int>(first_.size()) - 1; }
    int node(int rank) const { return node_of_[static_cast<std::size_t>(rank)]; }
    const std::vector<int>& node_of() const { return node_of_; }  // by rank
    std::span<const int> ranks_on(int node) const;                // ascending
    int size(int node) const { return static_cast<int>(ranks_on(node).size()); }
    int local_rank(int rank) const { return local_rank_[static_cast<std::size_t>(rank)]; }
    bool same_node(int a, int b) const { return node(a) == node(b); }

    Topology among(std::span<const int> ranks) const;  // these alone, numbered from 0 in this order

    // The same topology with sockets: ranks of a node with equal labels share one; or `ranks` consecutive
    // ranks of a node do, of which the last socket may have fewer.
    Topology on_sockets(std::span<const int> labels, SocketSource source) const;
    Topology on_sockets_of(int ranks, SocketSource source) const;
    bool knows_sockets() const { return sockets_ != SocketSource::unknown; }
    bool shares_sockets() const;  // whether two ranks are known to be on one
    const std::vector<int>& socket_of() const { return socket_of_; }  // by rank, within its node; or empty
    // The socket within the node, which has at most one for each rank; 0 if unknown.
    int socket(int rank) const { return knows_sockets() ? socket_of_[static_cast<std::size_t>(rank)] : 0; }
    RankPlaces places() const { return {node_of_, socket_of_}; }

    NodeSource source() const { return source_; }
    SocketSource sockets() const { return sockets_; }
    std::string describe() const;  // one line: nodes, ranks per node, how known; the same of sockets
    std::vector<std::string> warnings() const;  // nodes that make off-node counts or node-aware schemes odd
    // "0: 0-3; 1: 4, 6": the ranks on each node; empty for one node, and where the line would be long.
    std::string map() const;

  private:
    std::vector<int> node_of_;
    std::vector<int> local_rank_;
    std::vector<int> socket_of_;
    std::vector<int> by_node_;           // ranks, node after node
    std::vector<std::size_t> first_{0};  // of each node in by_node_
    NodeSource source_ = NodeSource::detected;
    SocketSource sockets_ = SocketSource::unknown;
};

// The nodes that MPI reports. Collective.
Topology detect_topology(const Communicator& comm);

// Pretend nodes: ranks sliced into groups of `ranks_per_node`, the last one possibly smaller.
Topology virtual_topology(int ranks, int ranks_per_node);

}  // namespace keel
