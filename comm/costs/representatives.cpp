#include "comm/costs/representatives.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace keel {
namespace {

std::size_t number_of(const Index& position, const Index& counts) {
    return static_cast<std::size_t>(position[0] + counts[0] * (position[1] + counts[1] * position[2]));
}

Index position_of(std::size_t number, const Index& counts) {
    const auto n = static_cast<int>(number);
    return {n % counts[0], n / counts[0] % counts[1], n / counts[0] / counts[1]};
}

template <class Operation>
Index each(const Index& a, const Index& b, const Operation& operation) {
    return {operation(a[0], b[0]), operation(a[1], b[1]), operation(a[2], b[2])};
}
Index quotient(const Index& a, const Index& b) {
    return each(a, b, [](int x, int y) { return x / y; });
}
Index remainder(const Index& a, const Index& b) {
    return each(a, b, [](int x, int y) { return x % y; });
}

// The nodes of a layout as tiles of a grid.
struct Tiling {
    Index tile;                // boxes of a node
    Index tiles;               // nodes in each direction
    std::vector<int> node_of;  // by tile, lexicographic
};

std::optional<Tiling> tiling_of(const Layout& layout, const Topology& topology) {
    if (!layout.domain().whole()) return {};
    for (int node = 1; node < topology.nodes(); ++node)
        if (topology.size(node) != topology.size(0)) return {};
    const auto node_of = [&](int box) { return topology.node(layout.owner(box)); };
    // The boxes of the first one's node reach as far as its tile.
    Index tile{1, 1, 1};
    for (int box = 0; box < layout.box_count(); ++box)
        if (node_of(box) == node_of(0))
            tile =
                each(tile, layout.position(box), [](int width, int at) { return std::max(width, at + 1); });
    const auto nodes = static_cast<std::size_t>(topology.nodes());
    if (remainder(layout.boxes(), tile) != Index{0, 0, 0}) return {};
    if (product(tile) * nodes != product(layout.boxes())) return {};

    Tiling tiling{tile, quotient(layout.boxes(), tile), std::vector<int>(nodes, -1)};
    std::vector<int> local_rank(product(tile), -1);
    std::vector<int> socket(static_cast<std::size_t>(topology.size(0)), -1);  // by number on the node
    const auto agrees = [](int& known, int found) {
        if (known < 0) known = found;
        return known == found;
    };
    for (int box = 0; box < layout.box_count(); ++box) {
        const Index position = layout.position(box);
        int& node = tiling.node_of[number_of(quotient(position, tile), tiling.tiles)];
        int& local = local_rank[number_of(remainder(position, tile), tile)];
        const int owner = layout.owner(box);
        if (!agrees(node, node_of(box)) || !agrees(local, topology.local_rank(owner))) return {};
        if (topology.knows_sockets() && !agrees(socket[static_cast<std::size_t>(local)],
                                                topology.socket_of()[static_cast<std::size_t>(owner)]))
            return {};
    }
    std::vector<int> once = tiling.node_of;
    std::ranges::sort(once);
    if (std::ranges::adjacent_find(once) != once.end()) return {};
    return tiling;
}

// The part with the first `tiles` nodes in each direction.
Representatives::Part part_of(const Layout& layout, const Topology& topology, const Tiling& tiling,
                              const Index& tiles, double weight) {
    std::vector<int> ranks;
    for (std::size_t tile = 0; tile < tiling.node_of.size(); ++tile) {
        const Index at = position_of(tile, tiling.tiles);
        if (at[0] >= tiles[0] || at[1] >= tiles[1] || at[2] >= tiles[2]) continue;
        const auto here = topology.ranks_on(tiling.node_of[tile]);
        ranks.insert(ranks.end(), here.begin(), here.end());
    }
    std::ranges::sort(ranks);
    const Index boxes = each(tiles, tiling.tile, [](int count, int width) { return count * width; });
    std::vector<int> owners(product(boxes));
    for (std::size_t box = 0; box < owners.size(); ++box) {
        const auto there = static_cast<int>(number_of(position_of(box, boxes), layout.boxes()));
        const auto rank = std::ranges::lower_bound(ranks, layout.owner(there)) - ranks.begin();
        owners[box] = static_cast<int>(rank);
    }
    const Domain domain(boxes, layout.boundaries(), static_cast<int>(layout.dimensions()));
    return {{domain, layout.width(), std::move(owners), 0}, topology.among(ranks), weight};
}

// The weight in sums of a grid of `tiles` nodes in a direction.
struct Position {
    int tiles;
    int weight;
};
struct Samples {
    std::vector<Position> samples;
    int divisor = 1;
};

// With three nodes in a direction each kind is there: one with a neighbour on both sides and, unless the
// direction is periodic, the first and the last. From three nodes on sums are linear in their number.
Samples samples_of(int tiles, bool periodic) {
    constexpr int all_kinds = 3;
    if (tiles <= (periodic ? all_kinds : all_kinds + 1)) return {{{tiles, 1}}};
    if (periodic) return {{{all_kinds, tiles}}, all_kinds};
    return {{{all_kinds, all_kinds + 1 - tiles}, {all_kinds + 1, tiles - all_kinds}}};
}

}  // namespace

Representatives Representatives::themselves(const Layout& layout, const Topology& topology) {
    Representatives those;
    those.parts_.push_back({layout, topology, 1});
    return those;
}

Representatives Representatives::of(const Layout& layout, const Topology& topology, int most_ranks) {
    Representatives those = themselves(layout, topology);
    const bool many = topology.ranks() > most_ranks;
    const auto tiling = many ? tiling_of(layout, topology) : std::optional<Tiling>();
    if (!tiling) return those;
    those.parts_.clear();
    std::array<Samples, 3> along;
    for (std::size_t d = 0; d < 3; ++d) {
        along[d] = samples_of(tiling->tiles[d], layout.boundaries()[d].low == Boundary::periodic);
        those.divisor_ *= along[d].divisor;
    }
    for (const Position& z : along[2].samples)
        for (const Position& y : along[1].samples)
            for (const Position& x : along[0].samples)
                those.parts_.push_back(part_of(layout, topology, *tiling, {x.tiles, y.tiles, z.tiles},
                                               1.0 * x.weight * y.weight * z.weight));
    return those;
}

double Representatives::share_of_requests() const {
    const Layout& layout = largest().layout;
    const auto sides = ghost_pattern(layout, 1, Neighbours::faces).sides();
    double requests = 0;
    for (int box = 0; box < layout.box_count(); ++box)
        for (const Index& side : sides)
            if (const auto other = layout.neighbour(box, side))
                requests += layout.owner(box) != layout.owner(*other) ? 1 : 0;
    return requests / (static_cast<double>(sides.size()) * layout.box_count());
}

SchemeRow Representatives::summary(const SchemeOptions& scheme, std::span<const Plan> plans,
                                   std::size_t columns, const Model* model, std::size_t value_bytes) const {
    SchemeRow row;
    Volume all;
    for (std::size_t part = 0; part < parts_.size(); ++part) {
        const Setup setup{parts_[part].topology, model, value_bytes};
        row = keel::summary(scheme, shares_of(plans[part], columns, setup), setup);
        all.add(row.all, parts_[part].weight);
    }
    for (double Volume::*const number : volume_members) row.all.*number = all.*number / divisor_;
    return row;
}

std::vector<SchemeRow> Representatives::compare(int depth, Neighbours neighbours,
                                                std::span<const SchemeOptions> schemes, const Model* model,
                                                std::size_t value_bytes) const {
    std::vector<SchemeRow> rows;
    for (const SchemeOptions& scheme : schemes) {
        std::vector<Plan> plans;
        for (const Part& part : parts_)
            plans.push_back(
                make_plan(ghost_pattern(part.layout, depth, neighbours, scheme), part.topology, scheme, {}));
        rows.push_back(summary(scheme, plans, scheme.columns, model, value_bytes));
    }
    // The schemes' own items change nothing that is counted.
    count_pattern(rows, ghost_pattern(largest().layout, depth, neighbours),
                  {largest().topology, model, value_bytes});
    return rows;
}

}  // namespace keel
