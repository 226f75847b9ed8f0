// NAP-3: all that a node needs of another crosses in one message. The ranks of a node share these messages out by size:
// those it gets from the first rank up, those it sends from the last rank down. (Bienz, Gropp, Olson 2020, section 3;
// Lockhart 2023, Alg. 3.1, line 18.)

#include "comm/plans/crossings.hpp"
#include "comm/plans/schemes.hpp"

namespace keel {

Cut cut_of_three_step() {
    return {[](std::span<const std::size_t>, int) { return std::optional<std::size_t>(); }};
}

Plan plan_three_step(const Pattern& pattern, const Topology& topology, OneRank rank) {
    const NodesPlanned planned = nodes_planned(topology, rank);
    Crossings crossings(pattern, topology, cut_of_three_step());
    return relay(requests_of(pattern, planned.ranks), crossings.of(planned.nodes), topology, rank);
}

}  // namespace keel
