#include "solvers/systems/linear_system.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/check.hpp"

namespace keel {

void LinearSystem::powers(std::span<const Vectors> bases, const Recurrence& recurrence) {
    check_at_most(bases.size(), most_bases, "no more bases at once than there is room for");
    std::array<Vector, most_bases> from;
    std::array<Vector, most_bases> to;
    for (std::size_t i = 0;; ++i) {
        std::size_t count = 0;
        for (const Vectors& v : bases) {
            if (i + 1 >= v.size()) continue;
            from[count] = v[i];
            to[count++] = v[i + 1];
        }
        if (count == 0) return;
        apply(std::span(to).first(count), std::span(from).first(count));
        for (const Vectors& v : bases)
            if (i + 1 < v.size()) recur(v[i + 1], v, i, recurrence);
    }
}

double LinearSystem::norm(Vector x, double weight) {
    const double xx = dot(x, x);
    if (safe(xx)) return std::sqrt(weight * xx);
    const double scale = unit(x);
    combine(x, std::array{scale}, std::array{x});
    const double scaled = dot(x, x);
    combine(x, std::array{1 / scale}, std::array{x});
    return std::isnan(scaled) ? HUGE_VAL : std::sqrt(weight * scaled) / scale;
}

double LinearSystem::unit(Vector x) {
    const double largest = max_norm(x);
    if (largest == 0.0 || !std::isfinite(largest)) return 1.0;
    return std::ldexp(1.0, std::clamp(-std::ilogb(largest), -1022, 1022));
}

void LinearSystem::recur(Vector next, Vectors v, std::size_t i, const Recurrence& recurrence) {
    const std::array c = recurrence.next(i);
    if (c[2] != 0.0)
        combine(next, c, std::array{next, v[i], v[i - 1]});
    else if (c[0] != 1.0 || c[1] != 0.0)
        axpby(next, c[0], next, c[1], v[i]);
}

}  // namespace keel
