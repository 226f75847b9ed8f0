#include <utility>

#include "comm/plans/schemes.hpp"

namespace keel {
namespace {

Plan plan_standard(const Pattern& pattern, const Topology& topology, const SchemeOptions&,
                   const RanksPlanned& whose) {
    const std::vector<int> ranks = whose.one ? std::vector{*whose.one} : numbers_below(topology.ranks());
    const std::vector<Request> requests = requests_of(pattern, ranks, whose.all());
    const auto messages = [&](bool on_node) {
        std::vector<Transfer> transfers;
        for (const Request& r : requests)
            if (topology.same_node(r.item.owner, r.rank) == on_node)
                transfers.push_back({r.item.owner, r.rank, 0, r.item});
        return messages_of(std::move(transfers), whose);
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
            .plan = plan_standard};
}

}  // namespace keel
