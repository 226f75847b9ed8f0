#pragma once

// Communication schemes: from a pattern and the nodes to a plan. Every function here is pure. With a `rank` it plans only
// the messages of that rank and asks the pattern for no more than it needs to know of other ranks; without one it plans for
// all ranks.
//
// Bienz, Gropp, Olson, "Reducing communication in algebraic multigrid with multi-step node aware communication", IJHPCA
// 2020; Lockhart, "Performance of communication in parallel solvers", PhD thesis, University of Illinois 2023, chapters
// 2 and 3.

#include <cstddef>
#include <optional>

#include "comm/patterns/ghosts.hpp"
#include "comm/plans/plan.hpp"

namespace keel {

enum class Scheme { standard, two_step, three_step, split, staged_axes };
enum class PartnerRule { local_index, max_need };
enum class CapRule { paper, always };

struct SchemeOptions {
    Scheme scheme = Scheme::standard;
    PartnerRule partner_rule = PartnerRule::local_index;  // of two_step
    std::size_t message_cap = 8192;     // of split: bytes of a message that carries all columns
    CapRule cap_rule = CapRule::paper;  // of split
    std::size_t columns = 1;            // fields at a time that split's messages are meant for
};

// The pattern of a level's ghost cells, with items short enough for the scheme: split's messages hold several.
GhostPattern ghost_pattern(const Layout& layout, int depth, Neighbours neighbours,
                           const SchemeOptions& options);

using OneRank = std::optional<int>;

// Straight from owner to needer: one message for every such pair of ranks.
Plan plan_standard(const Pattern& pattern, const Topology& topology, OneRank rank);

// An owner sends what a node needs once, to its partner there, who passes it on.
Plan plan_two_step(const Pattern& pattern, const Topology& topology, PartnerRule rule, OneRank rank);

// All that a node needs of another goes in one message, gathered before and passed on behind.
Plan plan_three_step(const Pattern& pattern, const Topology& topology, OneRank rank);

// As three_step, with the traffic of a pair of nodes cut into several messages of about message_cap bytes.
Plan plan_split(const Pattern& pattern, const Topology& topology, const SchemeOptions& options, OneRank rank);

// Of ghost cells only: along x, then y, then z, with slabs that grow by the ghosts of the axes before; edges and corners
// travel through the faces. Knows no nodes.
Plan plan_staged_axes(const GhostPattern& pattern, OneRank rank);

Plan make_plan(const GhostPattern& pattern, const Topology& topology, const SchemeOptions& options,
               OneRank rank);
// Not staged_axes, which knows only boxes.
Plan make_plan(const Pattern& pattern, const Topology& topology, const SchemeOptions& options, OneRank rank);

}  // namespace keel
