#include "comm/ranks/topology.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "kernels/check.hpp"

namespace keel {
namespace {

constexpr int most_parts = 8;  // parts of a line

// Ascending ranks as "0-3", "6".
std::vector<std::string> ranges(std::span<const int> ranks) {
    std::vector<std::string> found;
    for (std::size_t n = 0; n < ranks.size();) {
        std::size_t last = n;
        while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
        found.push_back(std::to_string(ranks[n]));
        if (last > n) found.back().append("-").append(std::to_string(ranks[last]));
        n = last + 1;
    }
    return found;
}

// "4 ranks", "1 to 4 ranks"
std::string range_of(std::span<const int> counts) {
    if (counts.empty()) return "0 ranks";
    const auto [least, most] = std::ranges::minmax(counts);
    if (least == most) return std::to_string(most) + (most == 1 ? " rank" : " ranks");
    return std::to_string(least) + " to " + std::to_string(most) + " ranks";
}

}  // namespace

Topology::Topology(std::span<const int> labels, NodeSource source) : source_(source) {
    std::map<int, int> number;  // nodes by label
    std::vector<std::vector<int>> members;
    for (std::size_t rank = 0; rank < labels.size(); ++rank) {
        const int node = number.try_emplace(labels[rank], static_cast<int>(number.size())).first->second;
        members.resize(number.size());
        auto& here = members[static_cast<std::size_t>(node)];
        node_of_.push_back(node);
        local_rank_.push_back(static_cast<int>(here.size()));
        here.push_back(static_cast<int>(rank));
    }
    for (const auto& here : members) {
        by_node_.insert(by_node_.end(), here.begin(), here.end());
        first_.push_back(by_node_.size());
    }
}

std::span<const int> Topology::ranks_on(int node) const {
    const auto n = static_cast<std::size_t>(node);
    return std::span(by_node_).subspan(first_[n], first_[n + 1] - first_[n]);
}

Topology Topology::among(std::span<const int> ranks) const {
    std::vector<int> labels;
    for (const int rank : ranks) labels.push_back(node(rank));
    const Topology those(labels, source_);
    if (!knows_sockets()) return those;
    labels.clear();
    for (const int rank : ranks) labels.push_back(socket_of_[static_cast<std::size_t>(rank)]);
    return those.on_sockets(labels, sockets_);
}

Topology Topology::on_sockets(std::span<const int> labels, SocketSource source) const {
    check(labels.size() == node_of_.size(), "each rank has a socket");
    Topology result = *this;
    result.sockets_ = source;
    result.socket_of_.assign(labels.size(), 0);
    for (int n = 0; n < nodes(); ++n) {
        std::map<int, int> number;  // sockets by label
        for (const int rank : ranks_on(n)) {
            const auto r = static_cast<std::size_t>(rank);
            result.socket_of_[r] =
                number.try_emplace(labels[r], static_cast<int>(number.size())).first->second;
        }
    }
    return result;
}

Topology Topology::on_sockets_of(int ranks, SocketSource source) const {
    check_at_least(ranks, 1, "a socket has at least one rank");
    std::vector<int> labels;
    for (const int local : local_rank_) labels.push_back(local / ranks);
    return on_sockets(labels, source);
}

bool Topology::shares_sockets() const {
    for (int n = 0; knows_sockets() && n < nodes(); ++n) {
        std::set<int> used;
        for (const int rank : ranks_on(n))
            if (!used.insert(socket_of_[static_cast<std::size_t>(rank)]).second) return true;
    }
    return false;
}

std::string Topology::describe() const {
    std::vector<int> of_nodes, of_sockets;
    for (int n = 0; n < nodes(); ++n) {
        of_nodes.push_back(size(n));
        if (!knows_sockets()) continue;
        std::map<int, int> on;  // ranks on each socket
        for (const int rank : ranks_on(n)) ++on[socket_of_[static_cast<std::size_t>(rank)]];
        for (const auto& [socket, count] : on) of_sockets.push_back(count);
    }
    std::string text = std::to_string(nodes()) + (nodes() == 1 ? " node, " : " nodes, ") +
                       range_of(of_nodes) + " per node (" + name(source_) + ")";
    if (knows_sockets()) text += ", " + range_of(of_sockets) + " per socket (" + name(sockets_) + ")";
    return text;
}

std::string Topology::map() const {
    std::string text;
    if (nodes() == 1 || nodes() > most_parts) return text;
    for (int n = 0; n < nodes(); ++n) {
        const std::vector<std::string> parts = ranges(ranks_on(n));
        if (static_cast<int>(parts.size()) > most_parts) return {};
        text += (n == 0 ? "" : "; ") + std::to_string(n) + ": ";
        for (const std::string& part : parts) text += (&part == &parts.front() ? "" : ", ") + part;
    }
    return text;
}

std::vector<std::string> Topology::warnings() const {
    std::vector<std::string> found;
    const std::string remedy =
        source_ == NodeSource::detected ? "; if MPI is wrong, set comm.ranks_per_node or comm.node_map" : "";
    int alone = 0;
    for (int n = 0; n < nodes(); ++n) alone += size(n) == 1 ? 1 : 0;
    if (ranks() > 1 && alone == nodes())
        found.push_back(
            "every rank is a node of its own: off-node counts are all counts, and node-aware schemes have "
            "nothing to gather" +
            remedy);
    else if (alone > 0 && alone < nodes())
        found.push_back(std::to_string(alone) + (alone == 1 ? " node has" : " nodes have") +
                        " one rank only" + remedy);
    // If ranks fill node after node, as few steps as possible from a rank to the next leave a node.
    int leaving = 0;
    for (int rank = 1; rank < ranks(); ++rank) leaving += same_node(rank - 1, rank) ? 0 : 1;
    if (alone < nodes() && 2 * leaving > ranks() && leaving > nodes() - 1)
        found.push_back(
            "ranks are dealt out to the nodes in turn: neighbours are mostly off node; let ranks fill node "
            "after node");
    return found;
}

Topology detect_topology(const Communicator& comm) {
    return {comm.node_leaders(), NodeSource::detected};
}

Topology virtual_topology(int ranks, int ranks_per_node) {
    check_at_least(ranks_per_node, 1, "a node has at least one rank");
    std::vector<int> labels;
    for (int rank = 0; rank < ranks; ++rank) labels.push_back(rank / ranks_per_node);
    return {labels, NodeSource::slices};
}

}  // namespace keel
