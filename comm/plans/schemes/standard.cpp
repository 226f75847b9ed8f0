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
    // What all ranks together own is what they need.
    const std::vector<Request> requests = rank ? requests_of(pattern, ranks) : pattern.needed_by(ranks);
    const auto messages = [&](bool on_node) {
        std::vector<Transfer> transfers;
        for (const Request& r : requests)
            if (topology.same_node(r.item.owner, r.rank) == on_node)
                transfers.push_back({r.item.owner, r.rank, 0, r.item});
        return messages_of(std::move(transfers), rank);
    };
    return {{Phase::local, messages(true)}, {{Phase::global, messages(false)}}};
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
