#pragma once

// Coarse levels in fewer and wider boxes (agglomeration) and on fewer ranks (consolidation), as in AMReX and
// HPGMG. Boxes agglomerate if they can be halved no further, or leave ranks little to do: two in each
// direction become one, or 3, 5, .. if their numbers allow no less, and coarsening goes on. The coarsest
// level's boxes, merged or not, go to the number of ranks that is asked for. Pure.

#include <cstdint>
#include <optional>
#include <vector>

#include "comm/patterns/boxes.hpp"
#include "kernels/layout/layout.hpp"
#include "solvers/multigrid/options.hpp"

namespace keel {

// The width at which coarsening ends; the least number of cells of a rank on a coarse level as long as its
// boxes can agglomerate, 0: they never do; the ranks of the coarsest level, or one of BottomRanks.
struct LevelRule {
    int bottom_box = 4;
    std::int64_t agglomerate = 0;
    int bottom_grid = BottomRanks::owners;
    // The number of ranks that the finest level is taken to have; 0: its own. Fewer ranks then make the
    // levels of this number.
    int ranks = 0;

    // Whether there is a level below one with boxes so wide. The last level's boxes are bottom_box wide or,
    // if an odd number of them became one, less than twice as wide, or of odd width.
    bool halves(int width) const { return width % 2 == 0 && width / 2 >= bottom_box; }
    // Whether boxes so wide are those of the last level, and go to other ranks than their owners.
    bool consolidates(int width) const { return bottom_grid != BottomRanks::owners && !halves(width); }
};

// A level by numbers.
struct LevelShape {
    Index boxes{};   // per direction
    int width = 1;   // of a box
    int merged = 1;  // boxes in each direction, of those that halving leaves, that are one
    int ranks = 1;   // with boxes, of those that the rule takes there to be

    double cells(std::size_t dimensions) const;  // exact up to 2^53
    friend bool operator==(const LevelShape&, const LevelShape&) = default;
};

// The most boxes in each direction that can become one: the greatest common divisor of their numbers.
int most_merged(const Index& boxes, std::size_t dimensions);

// All levels of a grid of boxes, the finest first.
std::vector<LevelShape> level_shapes(const Index& boxes, std::size_t dimensions, int box, int ranks,
                                     const LevelRule& rule);

// A level's boxes before and after agglomeration, consolidation or both, and the ranks that have them.
struct Agglomeration {
    Layout before;  // every rank has boxes
    // The ranks that share the boxes after, as `before` numbers them, ascending; of copies this rank alone.
    std::vector<int> ranks;
    Layout after;  // as these ranks, numbered anew from 0, see it; of rank -1 on the others
    // The ranks with the boxes of `before`, before and after.
    BoxDistribution owners, holders;

    bool merges() const { return after.width() != before.width(); }
    // How `values` of each box of `before` travel to their ranks after, and back. Nothing comes back from a
    // replicated grid: each rank takes its own boxes.
    BoxPattern gather(int values) const { return {owners, holders, values}; }
    BoxPattern scatter(int values) const { return {holders.everyone() ? owners : holders, owners, values}; }
    BoxPattern pattern(Way way, int values) const {
        return way == Way::there ? gather(values) : scatter(values);
    }
};

// `factor` boxes in each direction become one, on `ranks` ranks, or a copy of all on each rank
// (BottomRanks::all). A box goes to a rank that had some of it if the boxes of ranks lie together; ranks have
// floor or ceil of the mean, and those that go on are as far from each other as possible.
Agglomeration agglomerated(const Layout& before, int factor, int ranks);

// The boxes of a level, and the ranks that have them.
struct LevelDistribution {
    Layout layout;           // as the ranks that have it number themselves; of rank -1 on the others
    std::vector<int> ranks;  // these, as the finest level numbers them, ascending; of copies this rank alone
    // merges or moves the boxes of the level above, coarsened; null: each stays
    std::optional<Agglomeration> agglomeration;

    bool here() const { return layout.rank() >= 0; }
};

// All levels as the rank of the finest one sees them. Each rank has boxes there.
std::vector<LevelDistribution> level_distributions(const Layout& finest, const LevelRule& rule);

}  // namespace keel
