#include "kernels/layout/layout.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "kernels/check.hpp"
#include "kernels/hash.hpp"

namespace keel {
namespace {

std::uint64_t morton(const Index& p) {
    std::uint64_t key = 0;
    for (unsigned bit = 0; bit < 21; ++bit)
        for (unsigned d = 0; d < 3; ++d)
            key |= ((static_cast<std::uint64_t>(p[d]) >> bit) & 1U) << (3 * bit + d);
    return key;
}

}  // namespace

Index most_cubic(int boxes, std::size_t dimensions) {
    check_at_least(boxes, 1, "most_cubic wants at least one box");
    Index best{boxes, 1, 1};
    const int most = dimensions == 2 ? 1 : boxes;
    for (int z = 1; z <= most && z * z <= boxes / z; ++z) {
        if (boxes % z != 0) continue;
        for (int y = z; y <= boxes / z / y; ++y)
            if (boxes / z % y == 0 && boxes / z / y <= best[0]) best = {boxes / z / y, y, z};
    }
    return best;
}

std::vector<int> place(const Domain& domain, int ranks, Placement placement) {
    const auto count = static_cast<std::size_t>(domain.count());
    std::vector<int> order(count);
    std::iota(order.begin(), order.end(), 0);
    const auto sort_by = [&](auto key_of) {
        std::vector<std::uint64_t> keys;
        for (const int box : order) keys.push_back(key_of(box));
        const auto key = [&](int box) { return keys[static_cast<std::size_t>(box)]; };
        std::ranges::stable_sort(order, {}, key);
    };
    if (placement == Placement::curve) sort_by([&](int box) { return morton(domain.position(box)); });
    if (placement == Placement::scattered)
        sort_by([](int box) { return scramble(static_cast<std::uint64_t>(box)); });

    std::vector<int> owners(count);
    for (std::size_t n = 0; n < count; ++n) {
        const auto all = static_cast<std::size_t>(ranks);
        const std::size_t rank = placement == Placement::round_robin ? n % all : n * all / count;
        owners[static_cast<std::size_t>(order[n])] = static_cast<int>(rank);
    }
    return owners;
}

Layout::Layout(const Domain& domain, int width, std::vector<int> owners, int rank)
    : domain_(domain),
      width_(width),
      owners_(std::make_shared<const std::vector<int>>(std::move(owners))),
      rank_(rank) {
    check_at_least(width, 1, "boxes are at least one cell wide");
    check_equal(owners_->size(), static_cast<std::size_t>(domain.count()), "a box has one owner");
    std::vector<int> mine;
    for (int box = 0; box < box_count(); ++box)
        if (owner(box) == rank) mine.push_back(box);
    local_ = std::make_shared<const std::vector<int>>(std::move(mine));
}

Layout Layout::coarsened() const {
    check(width_ % 2 == 0, "only boxes of even width can be coarsened");
    Layout coarse = *this;
    coarse.width_ /= 2;
    return coarse;
}

std::size_t Layout::cell_count() const {
    return static_cast<std::size_t>(box_count()) * box_cells().cells();
}

bool Layout::colours_alternate() const {
    for (std::size_t d = 0; d < dimensions(); ++d)
        if (boundaries()[d].low == Boundary::periodic && cells()[d] % 2 != 0) return false;
    return true;
}

double Layout::spacing() const {
    return 1.0 / (width_ * *std::max_element(boxes().begin(), boxes().end()));
}

std::optional<Boundary> Layout::boundary_at(std::size_t d, const Index& face) const {
    if (face[d] % width_ != 0) return {};
    const Index above{face[0] / width_, face[1] / width_, face[2] / width_};
    Index below = above;
    below[d] -= 1;
    const auto high = domain_.box_at(above);
    const auto low = domain_.box_at(below);
    if (high && low) return {};
    check(high || low, "a face has a cell");
    return domain_.kind(position(high ? *high : *low), d, !high);
}

int Layout::local_index(int box) const {
    const auto found = std::lower_bound(local_->begin(), local_->end(), box);
    check(found != local_->end() && *found == box, "the box belongs to another rank");
    return static_cast<int>(found - local_->begin());
}

std::size_t Layout::local_cells() const {
    return local_->size() * box_cells().cells();
}

}  // namespace keel
