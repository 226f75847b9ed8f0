#pragma once

// Communication schemes: from a pattern and the nodes to a plan. Every function here is pure. Of one rank,
// or of some, it plans only their messages and asks the pattern for no more than it needs to know of other
// ranks.
//
// Bienz, Gropp, Olson, "Reducing communication in algebraic multigrid with multi-step node aware
// communication", IJHPCA 2020; Lockhart, "Reducing Communication Bottlenecks in Iterative Solvers", PhD
// thesis, University of Illinois 2023, chapters 2 and 3.

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "comm/patterns/ghosts.hpp"
#include "comm/plans/plan.hpp"
#include "kernels/names.hpp"

namespace keel {

// Handles of the schemes; all else about one stands in its file, which ends with its row.
enum class Scheme { standard, two_step, three_step, split, helpers, staged_axes };

// The rank of a node that two_step sends to.
enum class PartnerRule { local_index, max_need };
constexpr auto names_of(PartnerRule) {
    return std::array{"local_index", "max_need"};
}

// The rule by which split raises its cap.
enum class CapRule { paper, always };
constexpr auto names_of(CapRule) {
    return std::array{"paper", "always"};
}

struct SchemeOptions {
    Scheme scheme = Scheme::standard;
    PartnerRule partner_rule = PartnerRule::local_index;  // two_step
    std::size_t message_cap = 8192;     // split: bytes of a message that carries all columns
    CapRule cap_rule = CapRule::paper;  // split
    std::size_t columns = 1;            // split: fields at a time that messages are meant for
    int ranks_per_device = 1;           // helpers: the first has the data of all
    Carrier carrier = Carrier::isend;   // of the plan
};

// Bytes that a plan for all ranks takes at its peak, for each request of the pattern: measured, 125 for
// ghosts of boxes of 256^3 on nodes of 8 ranks, at most 270 for matrices.
inline constexpr double bytes_to_plan_a_request = 300;

struct MessageSplit;  // inter_node_traffic.hpp

// A scheme's row.
struct Planner {
    Scheme scheme = Scheme::standard;
    const char* word = "";     // in decks and tables
    const char* meaning = "";  // one sentence for users
    const char* source = "";   // paper
    // The scheme under each of its rules, the default first.
    std::vector<SchemeOptions> candidates{};
    const char* (*rule)(const SchemeOptions&) = nullptr;  // the word of the rule, if it has one
    // The most cells that an item of ghosts may be long; null where any length will do.
    int (*longest_item)(const Layout& layout, int depth, const SchemeOptions&) = nullptr;

    bool needs_helpers = false;  // ranks without data, that is, several ranks of a device

    // How it plans is one of three: any pattern directly; any pattern by how it splits the traffic of a pair
    // of nodes into messages, which nodes can also agree on (negotiation.hpp); or ghost cells only, by their
    // axes.
    Plan (*plan)(const Pattern&, const Topology&, const SchemeOptions&, const RanksPlanned&) = nullptr;
    MessageSplit (*split)(const SchemeOptions&) = nullptr;
    Plan (*plan_by_axes)(const GhostPattern&, const RanksPlanned&) = nullptr;

    bool needs_axes() const { return plan_by_axes != nullptr; }
};
// All schemes, standard first.
const std::vector<Planner>& planners();
const Planner& planner(Scheme scheme);

// Every scheme under every rule, standard first, for these numbers of the options; the one that needs helpers
// only where there are some.
std::vector<SchemeOptions> candidates(const SchemeOptions& options);
// The candidates for patterns that have no axes.
std::vector<SchemeOptions> candidates_without_axes(const SchemeOptions& options);
// The candidate with that name; nothing where there is none.
std::optional<SchemeOptions> candidate_named(std::string_view word, const SchemeOptions& options);
// These options, but the standard scheme instead of one that needs axes.
SchemeOptions without_axes(SchemeOptions options);
// "two_step/max_need": the scheme and, if it is not the default, its rule.
std::string name(const SchemeOptions& options);

// The pattern of a level's ghost cells, with items short enough for the scheme: split's messages hold
// several.
GhostPattern ghost_pattern(const Layout& layout, int depth, Neighbours neighbours,
                           const SchemeOptions& options);

Plan make_plan(const GhostPattern& pattern, const Topology& topology, const SchemeOptions& options,
               const RanksPlanned& whose);
// The scheme must not need axes.
Plan make_plan(const Pattern& pattern, const Topology& topology, const SchemeOptions& options,
               const RanksPlanned& whose);

}  // namespace keel
