#include "comm/plans/schemes.hpp"

#include <algorithm>

#include "comm/plans/inter_node_traffic.hpp"
#include "kernels/check.hpp"

namespace keel {

// Each scheme's row, at the end of its file.
Planner standard();
Planner two_step();
Planner three_step();
Planner split();
Planner helpers();
Planner staged_axes();

const std::vector<Planner>& planners() {
    static const std::vector<Planner> all{standard(), two_step(), three_step(),
                                          split(),    helpers(),  staged_axes()};
    return all;
}

const Planner& planner(Scheme scheme) {
    const auto found = std::ranges::find(planners(), scheme, &Planner::scheme);
    check(found != planners().end(), "every scheme has a row");
    return *found;
}

std::vector<SchemeOptions> candidates(const SchemeOptions& options) {
    std::vector<SchemeOptions> all;
    for (const Planner& one : planners()) {
        if (one.needs_helpers && options.ranks_per_device == 1) continue;
        for (SchemeOptions candidate : one.candidates) {
            candidate.message_cap = options.message_cap;
            candidate.columns = options.columns;
            candidate.ranks_per_device = options.ranks_per_device;
            candidate.carrier = options.carrier;
            all.push_back(candidate);
        }
    }
    return all;
}

std::vector<SchemeOptions> candidates_without_axes(const SchemeOptions& options) {
    std::vector<SchemeOptions> all = candidates(options);
    std::erase_if(all, [](const SchemeOptions& one) { return planner(one.scheme).needs_axes(); });
    return all;
}

std::optional<SchemeOptions> candidate_named(std::string_view word, const SchemeOptions& options) {
    SchemeOptions with_helpers = options;
    with_helpers.ranks_per_device = std::max(2, options.ranks_per_device);
    for (SchemeOptions one : candidates(with_helpers)) {
        one.ranks_per_device = options.ranks_per_device;
        if (name(one) == word) return one;
    }
    return {};
}

SchemeOptions without_axes(SchemeOptions options) {
    if (planner(options.scheme).needs_axes()) options.scheme = Scheme::standard;
    return options;
}

std::string name(const SchemeOptions& options) {
    const Planner& row = planner(options.scheme);
    std::string text = row.word;
    if (row.rule == nullptr) return text;
    const std::string rule = row.rule(options);
    return rule == row.rule(row.candidates.front()) ? text : text + "/" + rule;
}

GhostPattern ghost_pattern(const Layout& layout, int depth, Neighbours neighbours,
                           const SchemeOptions& options) {
    const auto longest = planner(options.scheme).longest_item;
    if (longest == nullptr) return ghost_pattern(layout, depth, neighbours);
    return {layout, depth, neighbours, longest(layout, depth, options)};
}

Plan make_plan(const Pattern& pattern, const Topology& topology, const SchemeOptions& options,
               const RanksPlanned& whose) {
    const Planner& row = planner(options.scheme);
    check(!row.needs_axes(), "only ghost cells have axes to exchange along");
    Plan plan = row.split != nullptr ? plan_inter_node(pattern, topology, row.split(options), whose)
                                     : row.plan(pattern, topology, options, whose);
    plan.carrier = options.carrier;
    return plan;
}

Plan make_plan(const GhostPattern& pattern, const Topology& topology, const SchemeOptions& options,
               const RanksPlanned& whose) {
    const Planner& row = planner(options.scheme);
    if (!row.needs_axes()) return make_plan(static_cast<const Pattern&>(pattern), topology, options, whose);
    Plan plan = row.plan_by_axes(pattern, whose);
    plan.carrier = options.carrier;
    return plan;
}

}  // namespace keel
