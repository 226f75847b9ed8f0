#pragma once

// Coarse levels in fewer and wider boxes on fewer ranks, as HPGMG agglomerates them: where boxes can be halved no further, or
// leave ranks little to do, those of an octant (in two dimensions of a quadrant) become one, and coarsening goes on. Pure.

#include <cstdint>
#include <optional>
#include <vector>

#include "comm/patterns/boxes.hpp"
#include "kernels/layout/layout.hpp"

namespace keel {

// The width at which coarsening ends, and the cells that each rank of a coarse level has at the least as long as boxes can be
// merged; 0: boxes are never merged.
struct LevelRule {
    int bottom_box = 4;
    std::int64_t agglomerate = 0;
    // That the finest level is taken to have in this; 0: as many as it has. Fewer ranks then make the levels of so many.
    int ranks = 0;
};

// A level by numbers.
struct LevelShape {
    Index boxes{};   // per direction
    int width = 1;   // of a box
    int merged = 1;  // so many of the boxes that halving leaves, in each direction, are one
    int ranks = 1;   // that have boxes, of those that the rule takes there to be

    friend bool operator==(const LevelShape&, const LevelShape&) = default;
};

// Whether boxes can be merged two by two: their number is even in each direction.
bool can_merge(const Index& boxes, std::size_t dimensions);

// As few as they become so.
Index merged_boxes(Index boxes, std::size_t dimensions);

// All levels of a grid of boxes, the finest first, which is never merged.
std::vector<LevelShape> level_shapes(const Index& boxes, std::size_t dimensions, int box, int ranks,
                                     const LevelRule& rule);

// The boxes of a level merged, and who has them then. A box goes to a rank that had some of it where the boxes of ranks lie
// together; ranks have floor or ceil of the mean, and those that go on are as far from each other as their numbers allow.
class Merge {
  public:
    // So many boxes of `spread`, of which every rank has some, in each direction become one, on so many ranks.
    Merge(const Layout& spread, int factor, int ranks);

    const Layout& spread() const { return spread_; }
    // The ranks that go on, as `spread` numbers them, ascending.
    const std::vector<int>& ranks() const { return ranks_; }
    // The merged boxes as these ranks, numbered anew from 0, see them; of rank -1 on the others.
    const Layout& layout() const { return *layout_; }

    // How `values` of each box of `spread` travel there and back.
    BoxPattern there(int values) const { return {owners_, holders_, values}; }
    BoxPattern back(int values) const { return {holders_, owners_, values}; }

  private:
    Layout spread_;
    std::vector<int> ranks_;
    std::optional<Layout> layout_;
    Holders owners_, holders_;
};

// Where a level is.
struct LevelPlace {
    Layout layout;               // as the ranks that have it number themselves; of rank -1 on the others
    std::vector<int> ranks;      // these, as the finest level numbers them, ascending
    std::optional<Merge> merge;  // of its cells in the boxes of the level above, on the ranks of that one

    bool here() const { return layout.rank() >= 0; }
};

// All levels as the rank of the finest one sees them. Each rank has boxes there.
std::vector<LevelPlace> level_places(const Layout& finest, const LevelRule& rule);

}  // namespace keel
