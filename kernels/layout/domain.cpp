#include "kernels/layout/domain.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "kernels/check.hpp"

namespace keel {
namespace {

constexpr Index unit(std::size_t d) {
    return {d == 0 ? 1 : 0, d == 1 ? 1 : 0, d == 2 ? 1 : 0};
}

// Calls visit(box, other) for every pair of boxes that share a face, once a face, and outside(box, d, high)
// where there is no box.
template <class Pair, class Outside>
void for_each_face(const Domain& domain, const Pair& pair, const Outside& outside) {
    for (int box = 0; box < domain.count(); ++box)
        for (std::size_t d = 0; d < domain.dimensions(); ++d) {
            if (const auto above = domain.neighbour(box, unit(d)))
                pair(box, *above);
            else
                outside(box, d, true);
            if (!domain.neighbour(box, -unit(d))) outside(box, d, false);
        }
}

}  // namespace

Domain::Domain(Index around, Boundaries boundaries, int dimensions)
    : around_(around),
      boundaries_(boundaries),
      dimensions_(static_cast<std::size_t>(dimensions)),
      count_(static_cast<int>(product(around))) {
    check(dimensions == 3 || (dimensions == 2 && around[2] == 1),
          "in two dimensions there is one layer of boxes");
    if (dimensions == 2) boundaries_[2] = Boundary::periodic;  // fields are constant along z
}

Domain::Domain(Index around, Boundaries boundaries, std::vector<int> present, Boundary outside,
               int dimensions)
    : Domain(around, boundaries, dimensions) {
    check(!present.empty(), "a domain has boxes");
    check(std::ranges::adjacent_find(present, std::greater_equal()) == present.end(),
          "boxes are listed once, in ascending order");
    check_at_least(present.front(), 0, "boxes are inside the box around them");
    check_at_most(present.back(), count_ - 1, "boxes are inside the box around them");
    check(outside != Boundary::periodic, "nothing is periodic towards a missing box");
    outside_ = outside;
    if (present.size() == product(around)) return;
    count_ = static_cast<int>(present.size());
    present_ = std::make_shared<const std::vector<int>>(std::move(present));
}

Index Domain::position(int box) const {
    const int place = present_ ? (*present_)[static_cast<std::size_t>(box)] : box;
    return {place % around_[0], place / around_[0] % around_[1], place / around_[0] / around_[1]};
}

std::optional<int> Domain::box_at(Index p) const {
    for (std::size_t d = 0; d < 3; ++d) {
        if (p[d] >= 0 && p[d] < around_[d]) continue;
        if (boundaries_[d].low != Boundary::periodic) return std::nullopt;
        p[d] = (p[d] % around_[d] + around_[d]) % around_[d];
    }
    const int place = p[0] + around_[0] * (p[1] + around_[1] * p[2]);
    if (!present_) return place;
    const auto found = std::ranges::lower_bound(*present_, place);
    if (found == present_->end() || *found != place) return std::nullopt;
    return static_cast<int>(found - present_->begin());
}

Boundary Domain::kind(const Index& position, std::size_t d, bool high) const {
    const bool outer = position[d] == (high ? around_[d] - 1 : 0);
    const Boundary side = high ? boundaries_[d].high : boundaries_[d].low;
    return outer && side != Boundary::periodic ? side : outside_;
}

bool Domain::has_dirichlet() const {
    if (!whole()) return faces_of(*this).dirichlet > 0;
    return std::ranges::any_of(boundaries_, [](const Sides<Boundary>& sides) {
        return sides.low == Boundary::dirichlet || sides.high == Boundary::dirichlet;
    });
}

BoxFaces faces_of(const Domain& domain) {
    BoxFaces faces;
    if (domain.whole()) {
        for (std::size_t d = 0; d < domain.dimensions(); ++d) {
            const long layer = domain.count() / domain.around()[d];
            const auto [low, high] = domain.boundaries()[d];
            faces.interior += layer * (domain.around()[d] - (low == Boundary::periodic ? 0 : 1));
            if (low == Boundary::periodic) continue;
            faces.outer += 2 * layer;
            for (const Boundary side : {low, high})
                (side == Boundary::dirichlet ? faces.dirichlet : faces.neumann) += layer;
        }
        return faces;
    }
    for_each_face(
        domain, [&](int, int) { ++faces.interior; },
        [&](int box, std::size_t d, bool high) {
            const Index at = domain.position(box);
            const bool outer = at[d] == (high ? domain.around()[d] - 1 : 0) &&
                               domain.boundaries()[d].low != Boundary::periodic;
            ++(outer ? faces.outer : faces.missing);
            ++(domain.kind(at, d, high) == Boundary::dirichlet ? faces.dirichlet : faces.neumann);
        });
    return faces;
}

// Union-find, with halved paths: the root of a set is its lowest number.
std::vector<Component> components_of(const Domain& domain) {
    if (domain.whole()) return {{.first = 0, .boxes = domain.count(), .dirichlet = domain.has_dirichlet()}};
    const auto boxes = static_cast<std::size_t>(domain.count());
    std::vector<int> parent(boxes);
    std::iota(parent.begin(), parent.end(), 0);
    const auto up = [&](int box) -> int& { return parent[static_cast<std::size_t>(box)]; };
    const auto root = [&](int box) {
        while (up(box) != box) box = up(box) = up(up(box));
        return box;
    };
    std::vector<bool> dirichlet(boxes, false);
    for_each_face(
        domain,
        [&](int box, int other) {
            const auto [low, high] = std::minmax({root(box), root(other)});
            up(high) = low;
        },
        [&](int box, std::size_t d, bool high) {
            if (domain.kind(domain.position(box), d, high) == Boundary::dirichlet)
                dirichlet[static_cast<std::size_t>(box)] = true;
        });
    std::vector<Component> components;
    std::vector<std::size_t> number(boxes);
    for (int box = 0; box < domain.count(); ++box) {
        const int first = root(box);
        const auto b = static_cast<std::size_t>(box);
        if (first == box) {
            number[b] = components.size();
            components.push_back({.first = box});
        }
        Component& its = components[number[static_cast<std::size_t>(first)]];
        ++its.boxes;
        its.dirichlet = its.dirichlet || dirichlet[b];
    }
    return components;
}

}  // namespace keel
