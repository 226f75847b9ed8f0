// Split: as three_step, but where a node would get long messages each is cut, so that more of its ranks, and of the
// senders', take part. The receiving node decides. (Lockhart 2023, Alg. 3.1.)

#include <algorithm>
#include <numeric>

#include "comm/plans/crossings.hpp"
#include "comm/plans/schemes.hpp"
#include "kernels/check.hpp"

namespace keel {

Cut cut_of_split(const SchemeOptions& options) {
    const std::size_t message_cap = options.message_cap;
    check(message_cap >= 1 && options.columns >= 1,
          "a message of split carries at least one byte and column");
    // Alg. 3.1, lines 4-10. The paper raises the cap, so that about one message a rank results, only where fewer
    // nodes send than the node has ranks; elsewhere it can cut without bound, which the rule `always` does not.
    const auto cap = [message_cap, rule = options.cap_rule](std::span<const std::size_t> bytes,
                                                            int ranks) -> std::optional<std::size_t> {
        const auto n = static_cast<std::size_t>(ranks);
        const std::size_t total = std::accumulate(bytes.begin(), bytes.end(), std::size_t{0});
        if (*std::max_element(bytes.begin(), bytes.end()) < message_cap) return {};
        const bool raise = bytes.size() < n || rule == CapRule::always;
        return total > message_cap * n && raise ? (total + n - 1) / n : message_cap;
    };
    return {cap, sizeof(double) * options.columns};
}

Plan plan_split(const Pattern& pattern, const Topology& topology, const SchemeOptions& options,
                OneRank rank) {
    const NodesPlanned planned = nodes_planned(topology, rank);
    Crossings crossings(pattern, topology, cut_of_split(options));
    return relay(requests_of(pattern, planned.ranks), crossings.of(planned.nodes), topology, rank);
}

}  // namespace keel
