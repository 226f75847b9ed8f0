#include "solvers/krylov/s_step/basis.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace keel {

std::vector<double> leja_order(std::vector<double> points) {
    std::vector<double> logarithms(points.size(), 0.0);  // logarithms of the products
    for (std::size_t n = 0; n < points.size(); ++n) {
        std::size_t best = n;
        const auto rank = [&](std::size_t m) { return n == 0 ? std::abs(points[m]) : logarithms[m]; };
        for (std::size_t m = n; m < points.size(); ++m)
            if (rank(m) > rank(best)) best = m;
        // Rotated to its place, so that the others keep their order and ties fall as they would without it.
        std::rotate(points.begin() + static_cast<std::ptrdiff_t>(n),
                    points.begin() + static_cast<std::ptrdiff_t>(best),
                    points.begin() + static_cast<std::ptrdiff_t>(best + 1));
        std::rotate(logarithms.begin() + static_cast<std::ptrdiff_t>(n),
                    logarithms.begin() + static_cast<std::ptrdiff_t>(best),
                    logarithms.begin() + static_cast<std::ptrdiff_t>(best + 1));
        for (std::size_t m = n + 1; m < points.size(); ++m)
            logarithms[m] +=
                std::log(std::max(std::abs(points[m] - points[n]), std::numeric_limits<double>::min()));
    }
    return points;
}

Recurrence recurrence(Basis basis, int degree, const Spectrum& spectrum) {
    const auto k = static_cast<std::size_t>(degree);
    const double centre = (spectrum.highest + spectrum.lowest) / 2;
    // An interval of no width, the spectrum of a multiple of the identity, is widened: it divides.
    const double radius = std::max((spectrum.highest - spectrum.lowest) / 2, 1e-3 * spectrum.highest);
    Recurrence A{std::vector<double>(k, 1.0), std::vector<double>(k, 0.0), std::vector<double>(k, 0.0)};
    if (basis == Basis::newton) {
        for (std::size_t i = 0; i < k; ++i)
            A.theta[i] = centre + radius * std::cos(std::numbers::pi * (2.0 * static_cast<double>(i) + 1) /
                                                    (2.0 * degree));
        A.theta = leja_order(A.theta);
        std::fill(A.gamma.begin(), A.gamma.end(), radius / 2);
    }
    if (basis == Basis::chebyshev) {
        std::fill(A.theta.begin(), A.theta.end(), centre);
        for (std::size_t i = 0; i < k; ++i) A.gamma[i] = i == 0 ? radius : radius / 2;
        for (std::size_t i = 1; i < k; ++i) A.sigma[i] = radius / 2;
    }
    return A;
}

}  // namespace keel
