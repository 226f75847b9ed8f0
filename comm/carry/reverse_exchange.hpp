#pragma once

// The transpose of a plan: ranks send contributions to items (parts of sums or of rows) back to the owners. A
// rank that gets several contributions to an item adds, or merges, them before it forwards the result.
// An item that a plan sends to many ranks of a node once crosses back once, too. Pure data.
//
// Bienz, Gropp, Olson 2020, section 4: the products P^T r and P^T (A P).

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "comm/plans/plan.hpp"

namespace keel {

// One phase: every contribution goes straight to a rank that adds it to its own values.
struct ReverseStage {
    // The items belong to the ranks that send them, and have the names of the items that they contribute to.
    Plan plan;
    struct Contribution {
        Item item;
        std::size_t slot = 0;  // the slot to read from or to add to
    };
    std::vector<Contribution> sends;
    std::vector<Contribution> receives;  // by ascending sender
};

// Slots are numbered: first what this rank has for others, one for each item that it needs by the plan, in
// their order; then the sums that it forms for others alone; then its own items to which others contribute,
// `homes`.
struct ReverseExchange {
    std::vector<ReverseStage> stages;  // one after the other
    std::size_t contributions = 0;
    std::size_t relays = 0;
    std::vector<std::int64_t> homes;  // names, ascending

    std::size_t slots() const { return contributions + relays + homes.size(); }
    Traffic traffic(int rank, const Topology& topology) const;  // if contributions have one value
};

// `plan` is `rank`'s part of a plan without axes, by which it gets the items `needed`, ascending and
// distinct. Their names are those of rows: no two owners have the same.
ReverseExchange reverse_exchange(const Plan& plan, const Topology& topology, int rank,
                                 std::span<const Item> needed);

}  // namespace keel
