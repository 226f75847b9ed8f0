#pragma once

// A plan backwards: what ranks have for the owners of items, parts of sums or of rows, travels home, and where several parts
// of an item meet they are added, or merged, before they are passed on. What a plan sends to many once per node thereby
// crosses back once per node, too. Pure data.
//
// Bienz, Gropp, Olson 2020, section 4: the products P^T r and P^T (A P).

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "comm/plans/plan.hpp"

namespace keel {

// One leg of the way, on which every part goes straight to a rank that adds it to what it has.
struct Hop {
    // A part is an item of the rank that sends it, named as the item that it is a part of.
    Plan plan;
    struct Part {
        Item item;
        std::size_t slot = 0;  // that it is read from, or added to
    };
    std::vector<Part> sends;
    std::vector<Part> receives;  // by ascending sender
};

// Slots are numbered: what this rank has for others, one for each item that it needs by the plan, in their order; then what
// it adds up for others alone; then its own items of which others have parts, `homes`.
struct Homeward {
    std::vector<Hop> hops;  // one after the other
    std::size_t contributions = 0;
    std::size_t relays = 0;
    std::vector<std::int64_t> homes;  // names, ascending

    std::size_t slots() const { return contributions + relays + homes.size(); }
    Traffic traffic(int rank, const Topology& topology) const;  // of parts of one value
};

// `plan` is `rank`'s part of a plan without axes, by which it gets the items `needed`, ascending and distinct, whose
// names are those of rows: no two owners have the same.
Homeward homeward(const Plan& plan, const Topology& topology, int rank, std::span<const Item> needed);

}  // namespace keel
