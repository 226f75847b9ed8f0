#include "solvers/multigrid/redistribution/agglomeration.hpp"

#include <algorithm>
#include <utility>

#include "kernels/check.hpp"

namespace keel {
namespace {

Index divided(Index boxes, std::size_t dimensions, int factor) {
    for (std::size_t d = 0; d < dimensions; ++d) boxes[d] /= factor;
    return boxes;
}

// The fewest boxes in each direction, but one, that can become one; 1: none can.
int fewest_merged(const Index& boxes, std::size_t dimensions) {
    const int most = most_merged(boxes, dimensions);
    int factor = std::min(most, 2);
    while (most % factor != 0) ++factor;
    return factor;
}

int ranks_of(const Layout& layout) {
    int ranks = 0;
    for (int box = 0; box < layout.box_count(); ++box) ranks = std::max(ranks, layout.owner(box) + 1);
    return ranks;
}

int place_of(const std::vector<int>& ascending, int value) {
    const auto found = std::ranges::lower_bound(ascending, value);
    return found != ascending.end() && *found == value ? static_cast<int>(found - ascending.begin()) : -1;
}

// The rank of each merged box, numbered among those that go on: boxes are dealt out evenly, in the order of
// the ranks that had their first cells.
std::vector<int> dealt_out(const Layout& before, const Domain& merged, int factor, int ranks) {
    const auto boxes = static_cast<std::size_t>(merged.count());
    const auto first_owner = [&](int box) {
        return before.owner(*before.domain().box_at(factor * merged.position(box)));
    };
    std::vector<int> order = numbers_below(merged.count());
    std::ranges::stable_sort(order, {}, first_owner);
    std::vector<int> owners(boxes);
    for (std::size_t n = 0; n < boxes; ++n)
        owners[static_cast<std::size_t>(order[n])] =
            static_cast<int>(n * static_cast<std::size_t>(ranks) / boxes);
    return owners;
}

// For each box before the rank of the merged one that it is in.
std::vector<int> holders_of(const Layout& before, const Layout& merged, const std::vector<int>& ranks) {
    const int factor = merged.width() / before.width();
    std::vector<int> holders;
    for (int box = 0; box < before.box_count(); ++box) {
        const Index at = divided(before.position(box), before.dimensions(), factor);
        holders.push_back(ranks[static_cast<std::size_t>(merged.owner(*merged.domain().box_at(at)))]);
    }
    return holders;
}

// The first rank of each of `ranks` groups of consecutive ranks of `among`.
std::vector<int> chosen_ranks(std::int64_t ranks, std::int64_t among) {
    std::vector<int> chosen;
    for (std::int64_t n = 0; n < ranks; ++n)
        chosen.push_back(static_cast<int>((n * among + ranks - 1) / ranks));
    return chosen;
}

Domain merged_domain(const Layout& before, int factor) {
    if (factor == 1) return before.domain();
    check(before.domain().whole(), "boxes are merged where none is missing");
    return {divided(before.boxes(), before.dimensions(), factor), before.boundaries(),
            static_cast<int>(before.dimensions())};
}

int resolved_ranks(int bottom_grid, int ranks) {
    if (bottom_grid == BottomRanks::one_in_eight) return (ranks + 7) / 8;
    return bottom_grid == BottomRanks::all ? ranks : std::min(bottom_grid, ranks);
}

}  // namespace

double LevelShape::cells(std::size_t dimensions) const {
    double cells = 1;
    for (std::size_t d = 0; d < dimensions; ++d) cells *= 1.0 * boxes[d] * width;
    return cells;
}

int most_merged(const Index& boxes, std::size_t dimensions) {
    return std::accumulate(boxes.begin(), boxes.begin() + static_cast<std::ptrdiff_t>(dimensions), 0,
                           [](int divisor, int along) { return std::gcd(divisor, along); });
}

std::vector<LevelShape> level_shapes(const Index& boxes, std::size_t dimensions, int box, int ranks,
                                     const LevelRule& rule) {
    std::vector<LevelShape> levels{{boxes, box, 1, rule.ranks > 0 ? rule.ranks : ranks}};
    while (rule.halves(levels.back().width)) {
        LevelShape level = levels.back();
        level.width /= 2;
        level.merged = 1;
        const auto asks = [&] {
            return !rule.halves(level.width) ||
                   level.cells(dimensions) < static_cast<double>(rule.agglomerate) * level.ranks;
        };
        while (rule.agglomerate > 0 && most_merged(level.boxes, dimensions) > 1 && asks()) {
            const int factor = fewest_merged(level.boxes, dimensions);
            level.boxes = divided(level.boxes, dimensions, factor);
            level.width *= factor;
            level.merged *= factor;
            level.ranks =
                static_cast<int>(std::min(static_cast<std::size_t>(level.ranks), product(level.boxes)));
        }
        if (rule.consolidates(level.width)) level.ranks = resolved_ranks(rule.bottom_grid, level.ranks);
        levels.push_back(level);
    }
    return levels;
}

Agglomeration agglomerated(const Layout& before, int factor, int ranks) {
    const Domain domain = merged_domain(before, factor);
    const int width = factor * before.width();
    BoxDistribution owners = BoxDistribution::owners_of(before);
    if (ranks == BottomRanks::all) {
        const std::vector<int> on_first(static_cast<std::size_t>(domain.count()), 0);
        return {before,
                {before.rank()},
                Layout(domain, width, on_first, 0),
                std::move(owners),
                BoxDistribution::everywhere(before.box_count(), ranks_of(before))};
    }
    std::vector<int> going_on = chosen_ranks(ranks, ranks_of(before));
    Layout after(domain, width, dealt_out(before, domain, factor, ranks), place_of(going_on, before.rank()));
    BoxDistribution holders(holders_of(before, after, going_on));
    return {before, std::move(going_on), std::move(after), std::move(owners), std::move(holders)};
}

std::vector<LevelDistribution> level_distributions(const Layout& finest, const LevelRule& rule) {
    const std::vector<int> ranks = numbers_below(ranks_of(finest));
    std::vector<LevelDistribution> levels;
    for (const LevelShape& shape : level_shapes(finest.boxes(), finest.dimensions(), finest.width(),
                                                static_cast<int>(ranks.size()), rule)) {
        if (levels.empty()) {
            levels.push_back({finest, ranks, {}});
            continue;
        }
        const LevelDistribution& above = levels.back();
        const Layout halved = above.layout.coarsened();
        const bool consolidates = rule.consolidates(shape.width);
        if (shape.merged == 1 && !consolidates) {
            levels.push_back({halved, above.ranks, {}});
            continue;
        }
        const bool copies = consolidates && rule.bottom_grid == BottomRanks::all;
        const auto left =
            std::min({above.ranks.size(), product(shape.boxes), static_cast<std::size_t>(shape.ranks)});
        Agglomeration merged =
            agglomerated(halved, shape.merged, copies ? BottomRanks::all : static_cast<int>(left));
        std::vector<int> those;
        for (const int rank : merged.ranks) those.push_back(above.ranks[static_cast<std::size_t>(rank)]);
        const Layout layout = merged.after;
        levels.push_back({layout, std::move(those), std::move(merged)});
    }
    if (rule.agglomerate == 0)
        check_equal(levels.back().layout.width(), rule.bottom_box,
                    "halving the box must reach the bottom box");
    return levels;
}

}  // namespace keel
