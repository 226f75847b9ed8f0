// NAP-2: what a node needs of a rank crosses once, from that rank to its partner on the node, which passes it
// on to the ranks that need it. (Bienz, Gropp, Olson 2020, section 3.)

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "comm/plans/inter_node_traffic.hpp"
#include "comm/plans/schemes.hpp"

namespace keel {
namespace {

// A message, and the values that each rank of its node needs of it.
struct NeededMessage {
    NodeMessage message;
    std::map<int, std::size_t> values;
};

// The rank of the node with the owner's local index; where the node is smaller, indices wrap.
int same_local_index(const Topology& topology, int owner, int node) {
    const auto ranks = topology.ranks_on(node);
    return ranks[static_cast<std::size_t>(topology.local_rank(owner)) % ranks.size()];
}

// The rank that needs most of it, so that least is passed on; of equal ones `partner`, then the lowest.
// (Without the partner in the rule, an all-gather would send everything to one rank.)
int neediest(const std::map<int, std::size_t>& values, int partner) {
    const auto rank = [&](const auto& need) {
        return std::tuple(need.second, need.first == partner, -need.first);
    };
    return std::max_element(values.begin(), values.end(),
                            [&](const auto& a, const auto& b) { return rank(a) < rank(b); })
        ->first;
}

Plan plan_two_step(const Pattern& pattern, const Topology& topology, const SchemeOptions& options,
                   const RanksPlanned& whose) {
    const std::vector<Request> requests = requests_planned(pattern, topology, whose);
    std::map<std::pair<int, int>, NeededMessage> needed;  // by owner and node
    for (const Request& r : requests) {
        if (topology.same_node(r.item.owner, r.rank)) continue;
        NeededMessage& one = needed[{r.item.owner, topology.node(r.rank)}];
        auto& items = one.message.items;
        if (items.empty() || items.back() != r.item) items.push_back(r.item);
        one.values[r.rank] += static_cast<std::size_t>(r.item.values);
    }
    std::vector<NodeMessage> messages;
    for (auto& [ends, one] : needed) {
        const auto [owner, node] = ends;
        NodeMessage& message = one.message;
        message.from = topology.node(owner);
        message.to = node;
        message.sender = owner;
        message.receiver = same_local_index(topology, owner, node);
        if (options.partner_rule == PartnerRule::max_need)
            message.receiver = neediest(one.values, message.receiver);
        messages.push_back(std::move(message));
    }
    return relay(requests, messages, topology, whose);
}

const char* rule_of_partners(const SchemeOptions& options) {
    return name(options.partner_rule);
}

}  // namespace

Planner two_step() {
    return {.scheme = Scheme::two_step,
            .word = "two_step",
            .meaning = "what a node needs of a rank once, to a partner on that node, who passes it on",
            .source = "Bienz, Gropp, Olson 2020, section 3 (NAP-2)",
            .candidates = {{.scheme = Scheme::two_step},
                           {.scheme = Scheme::two_step, .partner_rule = PartnerRule::max_need}},
            .rule = rule_of_partners,
            .plan = plan_two_step};
}

}  // namespace keel
