#include "comm/ghosts.hpp"

#include <algorithm>
#include <utility>

#include "kernels/check.hpp"

namespace keel {
namespace {

std::vector<Index> directions(Neighbours neighbours) {
    std::vector<Index> all;
    for (int z = -1; z <= 1; ++z)
        for (int y = -1; y <= 1; ++y)
            for (int x = -1; x <= 1; ++x) {
                const int faces_crossed = x * x + y * y + z * z;
                if (faces_crossed == 1 || (neighbours == Neighbours::all && faces_crossed > 1))
                    all.push_back({x, y, z});
            }
    return all;
}

// The ghost cells of a box on the side `direction`.
Region ghosts_towards(const Index& direction, int width, int depth) {
    Region region;
    for (std::size_t d = 0; d < 3; ++d) {
        region.lo[d] = direction[d] < 0 ? -depth : direction[d] > 0 ? width : 0;
        region.size[d] = direction[d] == 0 ? width : depth;
    }
    return region;
}

// The need of box `to` for its ghosts on the side `direction`, given the box `from` that lies there.
Need need(const Layout& layout, int to, const Index& direction, int from, int depth) {
    const Region target = ghosts_towards(direction, layout.width(), depth);
    Region source = target;
    source.lo = source.lo + (-layout.width()) * direction;
    return {from, source, to, target, layout.owner(from), layout.owner(to)};
}

}  // namespace

Pattern ghost_pattern(const Layout& layout, int depth, Neighbours neighbours) {
    check(depth >= 1 && depth <= layout.width(),
          "ghosts deeper than a box would come from beyond its neighbour");
    Pattern pattern{layout.rank(), {}, {}, {}};
    const std::vector<Index> sides = directions(neighbours);
    for (const int box : layout.local())
        for (const Index& side : sides)
            if (const auto other = layout.neighbour(box, side)) {
                const Need n = need(layout, box, side, *other, depth);
                (n.owner == layout.rank() ? pattern.copies : pattern.receives).push_back(n);
            }
    // The same loop as the receivers run, restricted to the boxes that this rank's boxes touch: collected by
    // receiving box and side, so that both ends list a message's needs in the same order.
    std::vector<std::pair<int, std::size_t>> owed;
    for (const int box : layout.local())
        for (std::size_t s = 0; s < sides.size(); ++s)
            if (const auto other = layout.neighbour(box, -sides[s]);
                other && layout.owner(*other) != layout.rank())
                owed.emplace_back(*other, s);
    std::sort(owed.begin(), owed.end());
    owed.erase(std::unique(owed.begin(), owed.end()), owed.end());
    for (const auto& [to, s] : owed)
        pattern.sends.push_back(need(layout, to, sides[s], *layout.neighbour(to, sides[s]), depth));
    return pattern;
}

std::vector<BoundaryItem> boundary_ghosts(const Layout& layout) {
    std::vector<BoundaryItem> items;
    for (int q = 0; q < layout.local_count(); ++q) {
        const Index at = layout.position(layout.local()[static_cast<std::size_t>(q)]);
        for (const Index& side : directions(Neighbours::all)) {
            Index outward{};
            for (std::size_t d = 0; d < 3; ++d) {
                const int beyond = at[d] + side[d];
                if (layout.boundaries()[d] != Boundary::periodic &&
                    (beyond < 0 || beyond >= layout.boxes()[d]))
                    outward[d] = side[d];
            }
            if (outward != Index{}) items.push_back({q, ghosts_towards(side, layout.width(), 1), outward});
        }
    }
    return items;
}

}  // namespace keel
