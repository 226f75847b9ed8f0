// Digits of u that rounding may lose.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "miniapp/setup/problem/problem.hpp"

namespace keel {
namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();
// Contrasts up to about 1e7 lose less, on any grid that fits a machine.
constexpr double least_loss = 1e-6;

// N cells whose couplings among each other are stronger than the E that join them to the rest and to
// Dirichlet faces determine their constant by E. Rounding leaves residuals of eps max D, so the loss is eps
// N max D / E. This bounds it by the greatest and the least coupling: a cut has no more cells for a face
// than there are along a side or, where boxes are missing, in all for a face of a box.
double loss_of_couplings(const ProblemOptions& problem, const Domain& domain) {
    const auto [least, most] = std::ranges::minmax(std::span(problem.anisotropy).first(domain.dimensions()));
    const double contrast =
        problem.coefficients == Coefficients::constant ? 1 : std::max(problem.contrast, 1 / problem.contrast);
    const double across = problem.box * static_cast<double>(domain.whole() ? std::ranges::max(domain.around())
                                                                           : domain.count());
    return eps * 6 * contrast * (most / least) * across;
}

std::string digits_text(double loss) {
    return fmt::format("up to {:.0f} of its 16 digits", std::clamp(std::log10(loss / eps), 0.0, 16.0));
}

}  // namespace

std::string warning_of_lost_digits(const ProblemOptions& problem, const Domain& domain) {
    const double spacing = 1.0 / (problem.box * std::ranges::max(domain.around()));
    const bool all_dirichlet = std::ranges::all_of(components_of(domain), &Component::dirichlet);
    const double of_a = loss_of_a(problem, spacing, all_dirichlet);
    if (of_a > least_loss)
        return fmt::format(
            "problem.a = {} is so small beside b beta / h^2 that the diagonal, in double precision, "
            "loses up to {} of it, and the constant part of u {}; residual_recomputed has all of "
            "a. Give a larger a or a smaller b{}",
            problem.a, of_a < 1 ? fmt::format("{:.1g}", of_a) : "all", digits_text(of_a),
            domain.has_dirichlet() ? "" : ", or problem.a = 0");
    // With a > 0 every part is held by a alpha as well.
    const double loss =
        problem.a == 0 ? loss_of_couplings(problem, domain)
                       : std::min(loss_of_couplings(problem, domain), loss_of_a(problem, spacing, false));
    if (loss <= least_loss) return "";
    return fmt::format(
        "u may lose {}, by a bound: cells that only weak couplings join to the rest of the domain and to "
        "Dirichlet faces have a constant that a residual within the tolerance does not determine. Give a "
        "smaller problem.contrast or problem.anisotropy, a larger problem.a, or Dirichlet faces",
        digits_text(loss));
}

}  // namespace keel
