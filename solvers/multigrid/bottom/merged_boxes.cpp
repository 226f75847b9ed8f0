#include "solvers/multigrid/bottom/merged_boxes.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "kernels/check.hpp"

namespace keel {
namespace {

Index divided(Index boxes, std::size_t dimensions, int factor) {
    for (std::size_t d = 0; d < dimensions; ++d) boxes[d] /= factor;
    return boxes;
}

// Exact up to 2^53.
double cells_of(const LevelShape& level, std::size_t dimensions) {
    double cells = 1;
    for (std::size_t d = 0; d < dimensions; ++d) cells *= 1.0 * level.boxes[d] * level.width;
    return cells;
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

// The rank of each merged box, numbered among those that go on. Boxes in the order of who had their first cells are dealt out
// evenly.
std::vector<int> dealt_out(const Layout& spread, const Domain& merged, int factor, int ranks) {
    const auto boxes = static_cast<std::size_t>(merged.count());
    const auto first_owner = [&](int box) {
        return spread.owner(*spread.domain().box_at(factor * merged.position(box)));
    };
    std::vector<int> order(boxes);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, first_owner);
    std::vector<int> owners(boxes);
    for (std::size_t n = 0; n < boxes; ++n)
        owners[static_cast<std::size_t>(order[n])] =
            static_cast<int>(n * static_cast<std::size_t>(ranks) / boxes);
    return owners;
}

// For each box of `spread` the rank of the merged one that it is in.
std::vector<int> holders_of(const Layout& spread, const Layout& merged, const std::vector<int>& ranks) {
    const int factor = merged.width() / spread.width();
    std::vector<int> holders;
    for (int box = 0; box < spread.box_count(); ++box) {
        const Index at = divided(spread.position(box), spread.dimensions(), factor);
        holders.push_back(ranks[static_cast<std::size_t>(merged.owner(*merged.domain().box_at(at)))]);
    }
    return holders;
}

// So many of so many ranks, spread out evenly.
std::vector<int> chosen_ranks(int ranks, int among) {
    std::vector<int> chosen;
    for (std::int64_t n = 0; n < ranks; ++n) chosen.push_back(static_cast<int>(n * among / ranks));
    return chosen;
}

Layout merged_layout(const Layout& spread, int factor, const std::vector<int>& ranks) {
    const Domain domain(divided(spread.boxes(), spread.dimensions(), factor), spread.boundaries(),
                        static_cast<int>(spread.dimensions()));
    return Layout(domain, factor * spread.width(),
                  dealt_out(spread, domain, factor, static_cast<int>(ranks.size())),
                  place_of(ranks, spread.rank()));
}

}  // namespace

bool can_merge(const Index& boxes, std::size_t dimensions) {
    return std::all_of(boxes.begin(), boxes.begin() + static_cast<std::ptrdiff_t>(dimensions),
                       [](int along) { return along % 2 == 0; });
}

Index merged_boxes(Index boxes, std::size_t dimensions) {
    while (can_merge(boxes, dimensions)) boxes = divided(boxes, dimensions, 2);
    return boxes;
}

std::vector<LevelShape> level_shapes(const Index& boxes, std::size_t dimensions, int box, int ranks,
                                     const LevelRule& rule) {
    std::vector<LevelShape> levels{{boxes, box, 1, rule.ranks > 0 ? rule.ranks : ranks}};
    while (levels.back().width > rule.bottom_box && levels.back().width % 2 == 0) {
        LevelShape level = levels.back();
        level.width /= 2;
        level.merged = 1;
        const auto asks = [&] {
            return level.width == rule.bottom_box ||
                   cells_of(level, dimensions) < static_cast<double>(rule.agglomerate) * level.ranks;
        };
        while (rule.agglomerate > 0 && can_merge(level.boxes, dimensions) && asks()) {
            level.boxes = divided(level.boxes, dimensions, 2);
            level.width *= 2;
            level.merged *= 2;
            level.ranks =
                static_cast<int>(std::min(static_cast<std::size_t>(level.ranks), product(level.boxes)));
        }
        levels.push_back(level);
    }
    check_equal(levels.back().width, rule.bottom_box, "halving the box must reach the bottom box");
    return levels;
}

Merge::Merge(const Layout& spread, int factor, int ranks)
    : spread_(spread),
      ranks_(chosen_ranks(ranks, ranks_of(spread))),
      layout_(merged_layout(spread, factor, ranks_)),
      owners_(Holders::owners_of(spread)),
      holders_(holders_of(spread, *layout_, ranks_)) {
    check(spread.domain().whole(), "boxes are merged where none is missing");
}

std::vector<LevelPlace> level_places(const Layout& finest, const LevelRule& rule) {
    std::vector<int> ranks(static_cast<std::size_t>(ranks_of(finest)));
    std::iota(ranks.begin(), ranks.end(), 0);
    std::vector<LevelPlace> places;
    for (const LevelShape& shape : level_shapes(finest.boxes(), finest.dimensions(), finest.width(),
                                                static_cast<int>(ranks.size()), rule)) {
        if (places.empty()) {
            places.push_back({finest, ranks, {}});
            continue;
        }
        const Layout halved = places.back().layout.coarsened();
        if (shape.merged == 1) {
            places.push_back({halved, places.back().ranks, {}});
            continue;
        }
        const auto left = std::min(
            {places.back().ranks.size(), product(shape.boxes), static_cast<std::size_t>(shape.ranks)});
        Merge merge(halved, shape.merged, static_cast<int>(left));
        std::vector<int> those;
        for (const int rank : merge.ranks())
            those.push_back(places.back().ranks[static_cast<std::size_t>(rank)]);
        const Layout layout = merge.layout();
        places.push_back({layout, std::move(those), std::move(merge)});
    }
    return places;
}

}  // namespace keel
