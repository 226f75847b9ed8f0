#pragma once

// How far apart ranks are.

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "kernels/names.hpp"

namespace keel {

// How far a message goes: within a socket, to another socket of the node, to another node.
enum class Locality { socket, node, off_node };
constexpr auto names_of(Locality) {
    return std::array{"socket", "node", "off_node"};
}

// Node and socket of each rank. Sockets are numbered within each node; without any, no two ranks share one.
struct RankPlaces {
    std::span<const int> node_of;
    std::span<const int> socket_of;

    Locality locality(int a, int b) const {
        const auto i = static_cast<std::size_t>(a);
        const auto j = static_cast<std::size_t>(b);
        if (node_of[i] != node_of[j]) return Locality::off_node;
        return !socket_of.empty() && socket_of[i] == socket_of[j] ? Locality::socket : Locality::node;
    }
    // The ranks of each node, ascending.
    std::vector<std::vector<int>> by_node() const {
        std::vector<std::vector<int>> nodes;
        for (std::size_t rank = 0; rank < node_of.size(); ++rank) {
            const auto node = static_cast<std::size_t>(node_of[rank]);
            nodes.resize(std::max(nodes.size(), node + 1));
            nodes[node].push_back(static_cast<int>(rank));
        }
        return nodes;
    }
};

}  // namespace keel
