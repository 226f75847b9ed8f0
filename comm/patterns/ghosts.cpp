#include "comm/patterns/ghosts.hpp"

#include <algorithm>
#include <utility>

#include "kernels/check.hpp"

namespace keel {
namespace {

std::vector<Index> directions(Neighbours neighbours, const Layout& layout) {
    std::vector<Index> all;
    const int out_of_plane = layout.layers(1)[2];
    for (int z = -out_of_plane; z <= out_of_plane; ++z)
        for (int y = -1; y <= 1; ++y)
            for (int x = -1; x <= 1; ++x) {
                const int faces_crossed = x * x + y * y + z * z;
                if (faces_crossed == 1 || (neighbours == Neighbours::all && faces_crossed > 1))
                    all.push_back({x, y, z});
            }
    return all;
}

// The ghost cells of a box on the side `direction`.
Region ghosts_towards(const Index& direction, const Index& extent, int depth) {
    Region region;
    for (std::size_t d = 0; d < 3; ++d) {
        region.lo[d] = direction[d] < 0 ? -depth : direction[d] > 0 ? extent[d] : 0;
        region.size[d] = direction[d] == 0 ? extent[d] : depth;
    }
    return region;
}

// 0, depth, width - depth, width, and cuts of the parts between them into equal ones of at most `longest`
// cells.
std::vector<int> cuts(int width, int depth, int longest) {
    std::vector<int> coarse{0, depth, width - depth, width};
    sort_distinct(coarse);
    std::vector<int> all{0};
    for (std::size_t n = 1; n < coarse.size(); ++n) {
        const int length = coarse[n] - coarse[n - 1];
        const int parts = (length + longest - 1) / longest;
        for (int part = 1; part <= parts; ++part) all.push_back(coarse[n - 1] + length * part / parts);
    }
    return all;
}

}  // namespace

GhostPattern::GhostPattern(const Layout& layout, int depth, Neighbours neighbours, std::optional<int> longest)
    : layout_(layout),
      depth_(depth),
      sides_(directions(neighbours, layout)),
      owners_(BoxDistribution::owners_of(layout)) {
    check_at_least(depth, 1, "there are ghosts");
    check_at_most(depth, layout.width(), "ghosts deeper than a box would come from beyond its neighbour");
    cuts_.fill({0, 1});  // a plane is not cut
    for (std::size_t d = 0; d < layout.dimensions(); ++d)
        cuts_[d] = cuts(layout.width(), depth, longest.value_or(layout.width()));
}

std::optional<GhostRegion> GhostPattern::ghosts(int to, const Index& side) const {
    const auto from = layout_.neighbour(to, side);
    if (!from) return {};
    const Region target = ghosts_towards(side, layout_.extent(), depth_);
    Region source = target;
    source.lo = source.lo + (-layout_.width()) * side;
    return GhostRegion{*from, source, to, target, layout_.owner(*from), layout_.owner(to)};
}

std::optional<GhostRegion> GhostPattern::ghosts_from(int from, const Index& side) const {
    const auto to = layout_.neighbour(from, -side);
    return to ? ghosts(*to, side) : std::nullopt;
}

std::vector<GhostRegion> GhostPattern::receives() const {
    std::vector<GhostRegion> regions;
    for (const int box : layout_.local())
        for (const Index& side : sides_)
            if (const auto n = ghosts(box, side); n && n->owner != layout_.rank()) regions.push_back(*n);
    return regions;
}

std::vector<GhostRegion> GhostPattern::copies() const {
    std::vector<GhostRegion> regions;
    for (const int box : layout_.local())
        for (const Index& side : sides_)
            if (const auto n = ghosts(box, side); n && n->owner == layout_.rank()) regions.push_back(*n);
    return regions;
}

// The same loop as the receivers run, restricted to the boxes that this rank's boxes touch.
std::vector<GhostRegion> GhostPattern::sends() const {
    std::vector<std::pair<int, std::size_t>> owed;  // receiving box and side
    for (const int box : layout_.local())
        for (std::size_t s = 0; s < sides_.size(); ++s)
            if (const auto other = layout_.neighbour(box, -sides_[s]);
                other && layout_.owner(*other) != layout_.rank())
                owed.emplace_back(*other, s);
    sort_distinct(owed);
    std::vector<GhostRegion> regions;
    for (const auto& [to, s] : owed) regions.push_back(*ghosts(to, sides_[s]));
    return regions;
}

std::array<Index, 2> GhostPattern::parts_of(const Region& region) const {
    std::array<Index, 2> ends{};
    for (std::size_t d = 0; d < 3; ++d) {
        const auto part_from = [&](int cell) {
            return static_cast<int>(std::ranges::lower_bound(cuts_[d], cell) - cuts_[d].begin());
        };
        ends[0][d] = part_from(region.lo[d]);
        ends[1][d] = part_from(region.lo[d] + region.size[d]);
    }
    return ends;
}

// Names count the items of box after box, x fastest.
std::vector<Item> GhostPattern::items(int box, const Region& region) const {
    const auto [first, last] = parts_of(region);
    const auto length = [&](std::size_t d, int part) {
        return cuts_[d][static_cast<std::size_t>(part) + 1] - cuts_[d][static_cast<std::size_t>(part)];
    };
    const Index parts = this->parts();
    std::vector<Item> all;
    all.reserve(product(last + -first));
    for (int z = first[2]; z < last[2]; ++z)
        for (int y = first[1]; y < last[1]; ++y)
            for (int x = first[0]; x < last[0]; ++x)
                all.push_back({layout_.owner(box), length(0, x) * length(1, y) * length(2, z),
                               ((std::int64_t{box} * parts[2] + z) * parts[1] + y) * parts[0] + x});
    return all;
}

Index GhostPattern::parts() const {
    const auto of = [&](std::size_t d) { return static_cast<int>(cuts_[d].size()) - 1; };
    return {of(0), of(1), of(2)};
}

int GhostPattern::box(const Item& item) const {
    return static_cast<int>(item.name / static_cast<std::int64_t>(product(parts())));
}

Region GhostPattern::region(const Item& item) const {
    auto name = static_cast<std::size_t>(item.name);
    Region cells;
    for (std::size_t d = 0; d < 3; ++d) {
        const std::size_t parts = cuts_[d].size() - 1;
        const std::size_t part = name % parts;
        cells.lo[d] = cuts_[d][part];
        cells.size[d] = cuts_[d][part + 1] - cuts_[d][part];
        name /= parts;
    }
    return cells;
}

void GhostPattern::add_requests(const GhostRegion& ghosts, std::vector<Request>& requests) const {
    if (ghosts.owner == ghosts.receiver) return;
    for (const Item& item : items(ghosts.from, ghosts.source)) requests.push_back({item, ghosts.receiver});
}

std::size_t GhostPattern::requests_of_a_box() const {
    std::size_t requests = 0;
    for (const Index& side : sides_) {
        Region source = ghosts_towards(side, layout_.extent(), depth_);
        source.lo = source.lo + (-layout_.width()) * side;
        const auto [first, last] = parts_of(source);
        requests += product(last + -first);
    }
    return requests;
}

double GhostPattern::most_requests() const {
    return static_cast<double>(requests_of_a_box()) * layout_.box_count();
}

std::vector<Request> GhostPattern::needed_by(std::span<const int> ranks) const {
    std::size_t boxes = 0;
    for (const int rank : ranks) boxes += owners_.boxes_of(rank).size();
    std::vector<Request> requests;
    requests.reserve(boxes * requests_of_a_box());
    for (const int rank : ranks)
        for (const int box : owners_.boxes_of(rank))
            for (const Index& side : sides_)
                if (const auto n = ghosts(box, side)) add_requests(*n, requests);
    sort_distinct(requests);
    return requests;
}

std::vector<Request> GhostPattern::owned_by(std::span<const int> ranks) const {
    std::vector<Request> requests;
    for (const int rank : ranks)
        for (const int box : owners_.boxes_of(rank))
            for (const Index& side : sides_)
                if (const auto n = ghosts_from(box, side)) add_requests(*n, requests);
    sort_distinct(requests);
    return requests;
}

GhostPattern ghost_pattern(const Layout& layout, int depth, Neighbours neighbours) {
    return {layout, depth, neighbours};
}

std::vector<BoundaryItem> boundary_ghosts(const Layout& layout, int depth) {
    check_at_most(depth, layout.width(), "ghosts deeper than a box have no mirror image in it");
    std::vector<BoundaryItem> items;
    for (int q = 0; q < layout.local_count(); ++q) {
        const int box = layout.local()[static_cast<std::size_t>(q)];
        for (const Index& side : directions(Neighbours::all, layout)) {
            if (layout.neighbour(box, side)) continue;
            Index outward{};
            for (std::size_t d = 0; d < 3; ++d) {
                Index across{};
                across[d] = side[d];
                if (!layout.neighbour(box, across)) outward[d] = side[d];
            }
            if (outward != Index{})
                items.push_back({q, ghosts_towards(side, layout.extent(), depth), outward});
        }
    }
    return items;
}

}  // namespace keel
