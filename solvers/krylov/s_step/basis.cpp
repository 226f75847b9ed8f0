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

std::vector<Relation> recurrence(Basis basis, int degree, const Spectrum& spectrum) {
    const double centre = (spectrum.highest + spectrum.lowest) / 2;
    // An interval of no width, the spectrum of a multiple of the identity, is widened: it divides.
    const double radius = std::max((spectrum.highest - spectrum.lowest) / 2, 1e-3 * spectrum.highest);
    std::vector<Relation> A(static_cast<std::size_t>(degree));
    if (basis == Basis::newton) {
        std::vector<double> zeros;
        for (int i = 0; i < degree; ++i)
            zeros.push_back(centre + radius * std::cos(std::numbers::pi * (2.0 * i + 1) / (2.0 * degree)));
        zeros = leja_order(zeros);
        for (std::size_t i = 0; i < A.size(); ++i) A[i] = {radius / 2, zeros[i], 0};
    }
    if (basis == Basis::chebyshev)
        for (std::size_t i = 0; i < A.size(); ++i)
            A[i] = i == 0 ? Relation{radius, centre, 0} : Relation{radius / 2, centre, radius / 2};
    return A;
}

}  // namespace keel
