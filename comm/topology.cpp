#include "comm/topology.hpp"

#include <algorithm>
#include <map>

#include "kernels/check.hpp"

namespace keel {

int Topology::nodes() const {
    return node_of.empty() ? 0 : 1 + *std::max_element(node_of.begin(), node_of.end());
}

int Topology::local_rank(int rank) const {
    return static_cast<int>(
        std::count(node_of.begin(), node_of.begin() + rank, node_of[static_cast<std::size_t>(rank)]));
}

std::string Topology::describe() const {
    std::vector<int> size(static_cast<std::size_t>(nodes()));
    for (const int node : node_of) ++size[static_cast<std::size_t>(node)];
    const auto [least, most] = std::minmax_element(size.begin(), size.end());
    std::string per_node = std::to_string(*most);
    if (*least != *most) per_node = std::to_string(*least) + " to " + per_node;
    return std::to_string(nodes()) + (nodes() == 1 ? " node, " : " nodes, ") + per_node +
           (per_node == "1" ? " rank" : " ranks") + " per node (" +
           (detected ? "detected" : "virtual: comm.ranks_per_node") + ")";
}

Topology detect_topology(const Communicator& comm) {
    Topology topology{comm.node_leaders(), true};
    std::map<int, int> number;  // of the node with that leader
    for (int& node : topology.node_of)
        node = number.try_emplace(node, static_cast<int>(number.size())).first->second;
    return topology;
}

Topology virtual_topology(int ranks, int ranks_per_node) {
    check(ranks_per_node >= 1, "a node has at least one rank");
    Topology topology;
    for (int rank = 0; rank < ranks; ++rank) topology.node_of.push_back(rank / ranks_per_node);
    return topology;
}

}  // namespace keel
