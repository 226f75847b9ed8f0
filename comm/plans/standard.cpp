#include <numeric>
#include <utility>

#include "comm/plans/schemes.hpp"

namespace keel {
namespace {

Plan plan(const Pattern& pattern, const Topology& topology, const SchemeOptions&, OneRank rank) {
    std::vector<int> ranks{rank.value_or(0)};
    if (!rank) {
        ranks.resize(static_cast<std::size_t>(topology.ranks()));
        std::iota(ranks.begin(), ranks.end(), 0);
    }
    std::vector<Transfer> on_node;
    std::vector<Transfer> off_node;
    for (const Request& r : requests_of(pattern, ranks))
        (topology.same_node(r.item.owner, r.rank) ? on_node : off_node)
            .push_back({r.item.owner, r.rank, 0, r.item});
    return {{Phase::local, messages_of(std::move(on_node), rank)},
            {{Phase::global, messages_of(std::move(off_node), rank)}}};
}

}  // namespace

Planner standard() {
    return {.scheme = Scheme::standard,
            .word = "standard",
            .meaning = "straight from each owner to each rank that needs something of it",
            .source = "common practice",
            .candidates = {{.scheme = Scheme::standard}},
            .plan = plan};
}

}  // namespace keel
