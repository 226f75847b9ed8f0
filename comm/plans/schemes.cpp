#include "comm/plans/schemes.hpp"

#include <algorithm>

#include "kernels/check.hpp"

namespace keel {

GhostPattern ghost_pattern(const Layout& layout, int depth, Neighbours neighbours,
                           const SchemeOptions& options) {
    if (options.scheme != Scheme::split) return ghost_pattern(layout, depth, neighbours);
    // Messages filled item by item then waste at most a quarter of what they may hold.
    constexpr int items_per_message = 4;
    const auto bytes = [&](int longest) {
        return sizeof(double) * options.columns * product({std::min(depth, longest), longest, longest});
    };
    int longest = layout.width();
    while (longest > 1 && items_per_message * bytes(longest) > options.message_cap) --longest;
    return {layout, depth, neighbours, longest};
}

Plan make_plan(const Pattern& pattern, const Topology& topology, const SchemeOptions& options, OneRank rank) {
    switch (options.scheme) {
        case Scheme::standard:
            return plan_standard(pattern, topology, rank);
        case Scheme::two_step:
            return plan_two_step(pattern, topology, options.partner_rule, rank);
        case Scheme::three_step:
            return plan_three_step(pattern, topology, rank);
        case Scheme::split:
            return plan_split(pattern, topology, options, rank);
        case Scheme::staged_axes:
            break;
    }
    check(false, "only ghost cells have axes to exchange along");
    return {};
}

Plan make_plan(const GhostPattern& pattern, const Topology& topology, const SchemeOptions& options,
               OneRank rank) {
    if (options.scheme == Scheme::staged_axes) return plan_staged_axes(pattern, rank);
    return make_plan(static_cast<const Pattern&>(pattern), topology, options, rank);
}

}  // namespace keel
