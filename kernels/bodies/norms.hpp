#pragma once

// Norms by sums of squares that neither under- nor overflow. System: the vocabulary of the vectors and of the
// operator, fields and ranks (solvers/systems/linear_system.hpp) or one block of threads of a device
// (backends/gpu/block_system.hpp).

#include <algorithm>
#include <cmath>
#include <optional>

namespace keel {

// Whether a sum of squares is far from under- and overflow, and so are the sums that a method forms of a
// residual 1e-60 times as large; not so where it is zero or no number.
constexpr bool safe(double sum_of_squares) {
    return sum_of_squares > 0x1p-300 && sum_of_squares < 0x1p300;
}

// Sums of a residual by one all-reduce: (r,r), and if the system is scaled from the left, (r,r) before that
// but for a factor that is the same for every r.
struct Squares {
    double own = 0;
    std::optional<double> unscaled = {};
};

}  // namespace keel

namespace keel::bodies {

// The power of two, or one near it that is a double, that brings max|x| to [1, 2); 1 where x is zero or not
// finite.
template <class System, class Vector = typename System::Vector>
constexpr double unit(System& A, Vector x) {
    const double largest = A.max_norm(x);
    if (largest == 0.0 || !std::isfinite(largest)) return 1.0;
    return std::ldexp(1.0, std::clamp(-std::ilogb(largest), -1022, 1022));
}

// sqrt(weight (x,x)); +infinity where a value is not finite. Where (x,x) is not safe(), of x scaled by a
// power of two in place, and back.
template <class System, class Vector = typename System::Vector>
constexpr double norm(System& A, Vector x, double weight) {
    const double xx = A.dot(x, x);
    if (safe(xx)) return std::sqrt(weight * xx);
    const double scale = A.unit(x);
    A.combine(x, {scale}, {x});
    const double scaled = A.dot(x, x);
    A.combine(x, {1 / scale}, {x});
    return std::isnan(scaled) ? HUGE_VAL : std::sqrt(weight * scaled) / scale;
}

}  // namespace keel::bodies
