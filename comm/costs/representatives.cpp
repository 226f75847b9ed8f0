#include "comm/costs/representatives.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "kernels/hash.hpp"

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

// The most nodes of a sample that are picked, not drawn.
constexpr int picked_nodes = 3;

}  // namespace

Representatives Representatives::themselves(const Layout& layout, const Topology& topology) {
    Representatives those;
    those.parts_.push_back({layout, topology, 1});
    return those;
}

Representatives Representatives::of(const Layout& layout, const Topology& topology, const FewNodes& few) {
    Representatives those = themselves(layout, topology);
    const bool many = topology.ranks() > few.most_ranks;
    const auto tiling = many ? tiling_of(layout, topology) : std::optional<Tiling>();
    if (!tiling) {
        if (!many || few.sampled == 0 || few.sampled + picked_nodes >= topology.nodes()) return those;
        those.sample_ = sample_of(layout, topology, few.sampled);
        std::vector<int> ranks;
        for (const auto* const nodes : {&those.sample_->picked, &those.sample_->drawn})
            for (const int node : *nodes) {
                const auto there = topology.ranks_on(node);
                ranks.insert(ranks.end(), there.begin(), there.end());
            }
        those.parts_.front().whose = RanksPlanned(std::move(ranks));
        return those;
    }
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

// Picks the first node, the last, which may not be full, and the one whose boxes share most faces with those
// of other nodes. The others are drawn by a fixed shuffle.
Representatives::Sample Representatives::sample_of(const Layout& layout, const Topology& topology,
                                                   int drawn) {
    const auto nodes = static_cast<std::size_t>(topology.nodes());
    std::vector<int> faces(nodes, 0);
    const GhostPattern pattern = ghost_pattern(layout, 1, Neighbours::faces);
    for (int box = 0; box < layout.box_count(); ++box) {
        const int node = topology.node(layout.owner(box));
        for (const Index& side : pattern.sides())
            if (const auto other = layout.neighbour(box, side))
                faces[static_cast<std::size_t>(node)] += topology.node(layout.owner(*other)) != node ? 1 : 0;
    }
    Sample sample;
    sample.picked = {0, topology.nodes() - 1,
                     static_cast<int>(std::ranges::max_element(faces) - faces.begin())};
    sort_distinct(sample.picked);
    std::vector<int> others;
    for (int node = 0; node < topology.nodes(); ++node)
        if (!std::ranges::binary_search(sample.picked, node)) others.push_back(node);
    const auto shuffled = [](int node) { return scramble(static_cast<std::uint64_t>(node)); };
    std::ranges::partial_sort(others, others.begin() + drawn, {}, shuffled);
    sample.drawn.assign(others.begin(), others.begin() + drawn);
    return sample;
}

int Representatives::planned_nodes() const {
    return sample_ ? static_cast<int>(sample_->picked.size() + sample_->drawn.size())
                   : largest().topology.nodes();
}

// The senders of a node depend on the needs of its neighbours' neighbours.
double Representatives::share_of_requests(const Part& part) const {
    const Layout& layout = part.layout;
    const auto sides = ghost_pattern(layout, 1, Neighbours::faces).sides();
    const auto node = [&](int box) {
        return static_cast<std::size_t>(part.topology.node(layout.owner(box)));
    };
    const auto for_each_face = [&](const auto& visit) {
        for (int box = 0; box < layout.box_count(); ++box)
            for (const Index& side : sides)
                if (const auto other = layout.neighbour(box, side)) visit(box, *other);
    };
    std::vector<bool> reached(static_cast<std::size_t>(part.topology.nodes()), !sample_);
    if (sample_) {
        for (const auto* const nodes : {&sample_->picked, &sample_->drawn})
            for (const int one : *nodes) reached[static_cast<std::size_t>(one)] = true;
        for (int faces = 0; faces < 2; ++faces) {
            std::vector<bool> further = reached;
            for_each_face([&](int box, int other) {
                if (reached[node(box)]) further[node(other)] = true;
            });
            reached = std::move(further);
        }
    }
    double requests = 0;
    for_each_face([&](int box, int other) {
        requests += reached[node(box)] && layout.owner(box) != layout.owner(other) ? 1 : 0;
    });
    return requests / (static_cast<double>(sides.size()) * layout.box_count());
}

SchemeRow Representatives::row_of(const Part& part, const SchemeOptions& scheme, const Plan& plan,
                                  std::size_t columns, const Model* model, std::size_t value_bytes) const {
    const Setup setup{part.topology, model, value_bytes};
    const std::vector<Share> shares = shares_of(plan, columns, setup, part.whose);
    if (!sample_) return keel::summary(scheme, shares, setup);
    const Topology sampled = part.topology.among(part.whose.some());
    SchemeRow row = keel::summary(scheme, shares, {sampled, model, value_bytes});
    const auto of_nodes = [&](const std::vector<int>& nodes, double Volume::*number) {
        std::vector<double> sums(nodes.size(), 0.0);
        for (std::size_t n = 0; n < nodes.size(); ++n)
            for (const int rank : part.topology.ranks_on(nodes[n])) {
                const auto place = std::ranges::lower_bound(part.whose.some(), rank);
                const auto& share = shares[static_cast<std::size_t>(place - part.whose.some().begin())];
                sums[n] += share.sent.volume.*number;
            }
        return sums;
    };
    row.margin.emplace();
    const auto drawn = static_cast<double>(sample_->drawn.size());
    const auto others =
        static_cast<double>(part.topology.nodes()) - static_cast<double>(sample_->picked.size());
    for (double Volume::*const number : volume_members) {
        const std::vector<double> picked = of_nodes(sample_->picked, number);
        const std::vector<double> values = of_nodes(sample_->drawn, number);
        const double mean = std::accumulate(values.begin(), values.end(), 0.0) / drawn;
        double squares = 0;
        for (const double value : values) squares += (value - mean) * (value - mean);
        row.all.*number = std::accumulate(picked.begin(), picked.end(), others * mean);
        // The standard error of the mean of nodes drawn without replacement; 95 % of normally distributed
        // means are within 1.96 of it.
        const double error = std::sqrt(squares / (drawn - 1) / drawn * (1 - drawn / others));
        row.margin.value().*number = 1.96 * others * error;
    }
    return row;
}

SchemeRow Representatives::of_all(std::span<const SchemeRow> rows) const {
    SchemeRow row = rows.back();
    for (double Volume::*const number : volume_members) {
        double sum = 0;
        for (std::size_t part = 0; part < rows.size(); ++part)
            sum += parts_[part].weight * rows[part].all.*number;
        row.all.*number = sum / divisor_;
    }
    return row;
}

SchemeRow Representatives::summary(const SchemeOptions& scheme, std::span<const Plan> plans,
                                   std::size_t columns, const Model* model, std::size_t value_bytes) const {
    std::vector<SchemeRow> of_parts;
    for (std::size_t part = 0; part < parts_.size(); ++part)
        of_parts.push_back(row_of(parts_[part], scheme, plans[part], columns, model, value_bytes));
    return of_all(of_parts);
}

std::vector<SchemeRow> Representatives::compare(int depth, Neighbours neighbours,
                                                std::span<const SchemeOptions> schemes, const Model* model,
                                                std::size_t value_bytes) const {
    std::vector<SchemeRow> rows;
    for (const SchemeOptions& scheme : schemes) {
        std::vector<SchemeRow> of_parts;
        for (const Part& part : parts_) {
            const GhostPattern pattern = ghost_pattern(part.layout, depth, neighbours, scheme);
            const Plan plan = make_plan(pattern, part.topology, scheme, part.whose);
            of_parts.push_back(row_of(part, scheme, plan, scheme.columns, model, value_bytes));
        }
        rows.push_back(of_all(of_parts));
    }
    count_duplicates(rows);
    // The schemes' own items change nothing that is counted.
    if (!sample_)
        count_pattern(rows, ghost_pattern(largest().layout, depth, neighbours),
                      {largest().topology, model, value_bytes});
    return rows;
}

}  // namespace keel
