#pragma once

// The pattern of a level's ghost cells. Who owns which box is known to all, so every rank works out its own
// part of a plan, and all that it needs of other ranks' parts, without a message.

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "comm/patterns/boxes.hpp"
#include "comm/patterns/pattern.hpp"
#include "kernels/bodies/boundary.hpp"
#include "kernels/layout/layout.hpp"
#include "kernels/layout/neighbours.hpp"

namespace keel {

// Cells `source` of global box `from` fill the cells `target` (ghosts) of global box `to`.
struct GhostRegion {
    int from;
    Region source;
    int to;
    Region target;
    int owner;     // rank of `from`
    int receiver;  // rank of `to`

    friend bool operator==(const GhostRegion&, const GhostRegion&) = default;
};

// Several ranks, or several boxes of one, may need the same cell: those on an edge of a box are ghosts of
// three neighbours. So that it can travel once, boxes are cut into items: by the planes that bound the
// sources of ghosts, at 0, depth, width - depth and width in each direction, and finer if wanted. Every
// source is a union of items.
class GhostPattern : public Pattern {
  public:
    // Depth may not exceed the box width. No item is longer than `longest` cells in any direction.
    GhostPattern(const Layout& layout, int depth, Neighbours neighbours, std::optional<int> longest = {});

    const Layout& layout() const { return layout_; }
    const std::vector<Index>& sides() const { return sides_; }  // sides with ghosts

    // The ghost regions of the layout's rank, ordered by receiving box, then by side; sends and receives of
    // two ranks are in the same order.
    std::vector<GhostRegion> receives() const;
    std::vector<GhostRegion> sends() const;
    std::vector<GhostRegion> copies() const;  // between boxes of the rank

    // The ghosts of box `to` on `side`; nothing beyond a physical boundary.
    std::optional<GhostRegion> ghosts(int to, const Index& side) const;
    // The ghosts that come from `from` of the box around it which has `from` on its `side`.
    std::optional<GhostRegion> ghosts_from(int from, const Index& side) const;

    // The items that a region of box `box` consists of, ascending; the region is bounded by cuts.
    std::vector<Item> items(int box, const Region& region) const;
    int box(const Item& item) const;
    Region region(const Item& item) const;

    std::vector<Request> needed_by(std::span<const int> ranks) const override;
    std::vector<Request> owned_by(std::span<const int> ranks) const override;
    double most_requests() const override;  // with those between boxes of one rank

  private:
    // The parts between cuts that the region covers in each direction: the first, and the one behind the
    // last.
    std::array<Index, 2> parts_of(const Region& region) const;
    Index parts() const;                    // number of parts of a box
    std::size_t requests_of_a_box() const;  // at most, for its ghosts
    void add_requests(const GhostRegion& ghosts, std::vector<Request>& requests) const;

    Layout layout_;
    int depth_;
    std::vector<Index> sides_;
    std::array<std::vector<int>, 3> cuts_;  // by direction, ascending, from 0 to the box's extent
    BoxDistribution owners_;
};

// The ghost cells, `depth` layers deep, of the layout's boxes and the cells they come from.
GhostPattern ghost_pattern(const Layout& layout, int depth, Neighbours neighbours);

// The ghost cells of the local boxes that are in no box of the domain and lie beyond a boundary in at least
// one direction: `depth` layers, at most the box's width, on all 26 sides, 8 in two dimensions. Edges and
// corners where two or three boxes meet around a missing one are left out. What is in another box is left
// out, too: such a ghost may be one of a face of the next box in the same block.
std::vector<BoundaryItem> boundary_ghosts(const Layout& layout, int depth = 1);

}  // namespace keel
