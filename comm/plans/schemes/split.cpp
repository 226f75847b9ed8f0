// Split: as three_step, but where a node would get long messages each is cut, so that more of its ranks, and
// of the senders', take part. The receiving node decides. (Lockhart 2023, Alg. 3.1.)

#include <algorithm>
#include <numeric>

#include "comm/plans/inter_node_traffic.hpp"
#include "comm/plans/schemes.hpp"
#include "kernels/check.hpp"

namespace keel {
namespace {

MessageSplit split_by(const SchemeOptions& options) {
    const std::size_t message_cap = options.message_cap;
    check_at_least(message_cap, std::size_t{1}, "a message of split carries at least a byte");
    check_at_least(options.columns, std::size_t{1}, "a message of split carries at least a column");
    // Alg. 3.1, lines 4-10. The paper raises the cap, so that about one message a rank results, only where
    // fewer nodes send than the node has ranks; elsewhere it can cut without bound, which the rule `always`
    // does not.
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

// Messages filled item by item then waste at most a quarter of what they may hold.
int longest_item(const Layout& layout, int depth, const SchemeOptions& options) {
    constexpr int items_per_message = 4;
    const auto bytes = [&](int longest) {
        return sizeof(double) * options.columns * product({std::min(depth, longest), longest, longest});
    };
    int longest = layout.width();
    while (longest > 1 && items_per_message * bytes(longest) > options.message_cap) --longest;
    return longest;
}

const char* rule(const SchemeOptions& options) {
    return name(options.cap_rule);
}

}  // namespace

Planner split() {
    return {.scheme = Scheme::split,
            .word = "split",
            .meaning = "as three_step, with long messages cut so that more ranks of both nodes take part",
            .source = "Lockhart 2023, Alg. 3.1",
            .candidates = {{.scheme = Scheme::split}, {.scheme = Scheme::split, .cap_rule = CapRule::always}},
            .rule = rule,
            .longest_item = longest_item,
            .split = split_by};
}

}  // namespace keel
