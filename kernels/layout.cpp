#include "kernels/layout.hpp"

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

Index position_of(int box, const Index& boxes) {
    return {box % boxes[0], box / boxes[0] % boxes[1], box / boxes[0] / boxes[1]};
}

}  // namespace

Index most_cubic(int boxes) {
    check_at_least(boxes, 1, "most_cubic wants at least one box");
    Index best{boxes, 1, 1};
    for (int z = 1; z * z <= boxes / z; ++z) {
        if (boxes % z != 0) continue;
        for (int y = z; y <= boxes / z / y; ++y)
            if (boxes / z % y == 0 && boxes / z / y <= best[0]) best = {boxes / z / y, y, z};
    }
    return best;
}

std::vector<int> place(Index boxes, int ranks, Placement placement) {
    const std::size_t count = product(boxes);
    std::vector<int> order(count);
    std::iota(order.begin(), order.end(), 0);
    const auto sort_by = [&](auto key) {
        std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return key(a) < key(b); });
    };
    if (placement == Placement::curve) sort_by([&](int box) { return morton(position_of(box, boxes)); });
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

Layout::Layout(Index boxes, int width, Boundaries boundaries, std::vector<int> owners, int rank)
    : boxes_(boxes),
      width_(width),
      boundaries_(boundaries),
      owners_(std::make_shared<const std::vector<int>>(std::move(owners))),
      rank_(rank) {
    check_at_least(width, 1, "boxes are at least one cell wide");
    check_equal(owners_->size(), product(boxes), "a box has one owner");
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

double Layout::spacing() const {
    return 1.0 / (width_ * *std::max_element(boxes_.begin(), boxes_.end()));
}

Index Layout::position(int box) const {
    return position_of(box, boxes_);
}

std::optional<int> Layout::neighbour(int box, Index offset) const {
    Index p = position(box) + offset;
    for (std::size_t d = 0; d < 3; ++d) {
        if (p[d] >= 0 && p[d] < boxes_[d]) continue;
        if (boundaries_[d] != Boundary::periodic) return std::nullopt;
        p[d] = (p[d] % boxes_[d] + boxes_[d]) % boxes_[d];
    }
    return p[0] + boxes_[0] * (p[1] + boxes_[1] * p[2]);
}

int Layout::local_index(int box) const {
    const auto found = std::lower_bound(local_->begin(), local_->end(), box);
    check(found != local_->end() && *found == box, "the box belongs to another rank");
    return static_cast<int>(found - local_->begin());
}

std::size_t Layout::local_cells() const {
    return local_->size() * product({width_, width_, width_});
}

}  // namespace keel
