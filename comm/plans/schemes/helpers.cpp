// Helper ranks, MIRGE-Com's exchange (Lockhart 2023, Description 5.1): of the ranks that share a device the
// first has its data. It passes each message to another node on to one of the others, its helpers, which
// sends it to a helper of the device that needs it, and that one passes it on. Messages within the node go
// straight and meanwhile. Nothing is gathered by node, so that an item goes as often as devices need it.
// Helpers take turns by the number of the other device, which both ends know: the busiest may have more
// messages than (5.18), their number over that of helpers, rounded up.

#include <algorithm>
#include <utility>

#include "comm/plans/inter_node_traffic.hpp"
#include "comm/plans/schemes.hpp"

namespace keel {
namespace {

// The number of the rank's device, where all nodes have as many.
int device_of(const Topology& topology, int rank, int per_device) {
    const int node = topology.node(rank);
    const int devices = (topology.size(node) + per_device - 1) / per_device;
    return node * devices + topology.local_rank(rank) / per_device;
}

// The helper of `rank` for its messages with the device of `other`; the rank itself where it has no helpers.
int helper_of(const Topology& topology, int rank, int other, int per_device) {
    const auto ranks = topology.ranks_on(topology.node(rank));
    const int first = topology.local_rank(rank) / per_device * per_device;
    const int helpers = std::min(per_device, static_cast<int>(ranks.size()) - first) - 1;
    if (helpers == 0) return rank;
    const int turn = device_of(topology, other, per_device) % helpers;
    return ranks[static_cast<std::size_t>(first + 1 + turn)];
}

Plan plan(const Pattern& pattern, const Topology& topology, const SchemeOptions& options,
          const RanksPlanned& whose) {
    std::vector<Transfer> local, to_helpers, between, from_helpers;
    const auto add = [](std::vector<Transfer>& transfers, int source, int target, const Item& item) {
        if (source != target) transfers.push_back({source, target, 0, item});
    };
    for (const Request& r : requests_planned(pattern, topology, whose)) {
        const int owner = r.item.owner;
        if (topology.same_node(owner, r.rank)) {
            add(local, owner, r.rank, r.item);
            continue;
        }
        const int sender = helper_of(topology, owner, r.rank, options.ranks_per_device);
        const int receiver = helper_of(topology, r.rank, owner, options.ranks_per_device);
        add(to_helpers, owner, sender, r.item);
        add(between, sender, receiver, r.item);
        add(from_helpers, receiver, r.rank, r.item);
    }
    return {{Phase::local, messages_of(std::move(local), whose)},
            {{Phase::local_s, messages_of(std::move(to_helpers), whose)},
             {Phase::global, messages_of(std::move(between), whose)},
             {Phase::local_r, messages_of(std::move(from_helpers), whose)}}};
}

}  // namespace

Planner helpers() {
    return {.scheme = Scheme::helpers,
            .word = "helpers",
            .meaning = "each message to another node by a rank without data on both nodes",
            .source = "Lockhart 2023, Description 5.1",
            .candidates = {{.scheme = Scheme::helpers}},
            .needs_helpers = true,
            .plan = plan};
}

}  // namespace keel
