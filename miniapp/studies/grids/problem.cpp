#include "miniapp/studies/grids/problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/hash.hpp"

namespace keel {
namespace {

constexpr double pi = std::numbers::pi;

// Triangle wave of period 1: 1 at 0, -1 at 1/2.
double triangle(double x) {
    return 4 * std::abs(x - std::floor(x) - 0.5) - 1;
}

// Uniform in [-1, 1) from a counter: the same number for a cell on any decomposition.
double uniform(std::uint64_t seed, std::uint64_t counter) {
    return static_cast<double>(scramble(scramble(seed) + counter) >> 11) * 0x1.0p-52 - 1.0;
}

}  // namespace

double loss_of_a(const ProblemOptions& parameters, double spacing) {
    if (parameters.a == 0.0 || std::ranges::count(parameters.boundary, Boundary::dirichlet) > 0) return 0.0;
    const double K = parameters.contrast;
    const double beta = parameters.coefficients == Coefficients::smooth ? std::sqrt(std::max(K, 1 / K))
                        : parameters.coefficients == Coefficients::ball ? std::max(K, 1.0)
                                                                        : 1.0;
    const double alpha = parameters.alpha == Alpha::constant ? 1.0 : 0.5;
    const double faces = 6 * (parameters.b / parameters.a) * beta / (spacing * spacing);
    return std::numeric_limits<double>::epsilon() / 2 * faces / alpha;
}

Problem::Problem(const ProblemOptions& parameters, const Layout& finest)
    : parameters_(parameters), cells_(finest.cells()), h_(finest.spacing()), boundary_(finest.boundaries()) {}

bool Problem::singular() const {
    for (const Boundary boundary : boundary_)
        if (boundary == Boundary::dirichlet) return false;
    return parameters_.a == 0.0;
}

double Problem::alpha(const Point& x) const {
    if (parameters_.alpha == Alpha::constant) return 1.0;
    return 1.0 + 0.5 * std::cos(2 * pi * x[0]) * std::cos(2 * pi * x[1]) * std::cos(2 * pi * x[2]);
}

double Problem::beta(const Point& x) const {
    const double K = parameters_.contrast;
    if (parameters_.coefficients == Coefficients::smooth)
        return std::pow(K, 0.5 * std::sin(2 * pi * x[0]) * std::sin(2 * pi * x[1]) * std::sin(2 * pi * x[2]));
    if (parameters_.coefficients == Coefficients::ball) {
        const Point r{x[0] - 0.5, x[1] - 0.5, x[2] - 0.5};
        return r[0] * r[0] + r[1] * r[1] + r[2] * r[2] < 0.0625 ? K : 1.0;
    }
    return 1.0;
}

double Problem::mean_alpha(const Index& cell, int ratio) const {
    double sum = 0;
    for (int k = 0; k < ratio; ++k)
        for (int j = 0; j < ratio; ++j)
            for (int i = 0; i < ratio; ++i)
                sum +=
                    alpha({(ratio * cell[0] + i + 0.5) / cells_[0], (ratio * cell[1] + j + 0.5) / cells_[1],
                           (ratio * cell[2] + k + 0.5) / cells_[2]});
    return sum / (ratio * ratio * ratio);
}

double Problem::mean_beta(std::size_t d, const Index& face, int ratio) const {
    const std::size_t s = (d + 1) % 3;
    const std::size_t t = (d + 2) % 3;
    Point x;
    // The face at the far end of a periodic direction is the one at its beginning, to the last bit.
    const int at = boundary_[d] == Boundary::periodic ? ratio * face[d] % cells_[d] : ratio * face[d];
    x[d] = static_cast<double>(at) / cells_[d];
    double sum = 0;
    for (int j = 0; j < ratio; ++j)
        for (int i = 0; i < ratio; ++i) {
            x[s] = (ratio * face[s] + i + 0.5) / cells_[s];
            x[t] = (ratio * face[t] + j + 0.5) / cells_[t];
            sum += beta(x);
        }
    return sum / (ratio * ratio);
}

OperatorFormulas Problem::operator_formulas() const {
    OperatorFormulas formulas;
    formulas.singular = singular();
    formulas.a_alpha = [this](const Index& cell) { return parameters_.a * mean_alpha(cell, 1); };
    for (std::size_t d = 0; d < 3; ++d)
        formulas.face[d] = [this, d](const Index& face) {
            const bool outer = boundary_[d] != Boundary::periodic && (face[d] == 0 || face[d] == cells_[d]);
            const double weight = !outer ? 1.0 : boundary_[d] == Boundary::dirichlet ? 2.0 : 0.0;
            return weight * parameters_.b * mean_beta(d, face, 1) / (h_ * h_);
        };
    return formulas;
}

double Problem::factor(std::size_t d, double x) const {
    switch (boundary_[d]) {
        case Boundary::dirichlet:
            return std::sin(pi * x) + std::sin(3 * pi * x) / 4;
        case Boundary::neumann:
            return std::cos(pi * x) + std::cos(2 * pi * x) / 4;
        case Boundary::periodic:
            break;
    }
    return std::sin(2 * pi * x) + std::cos(4 * pi * x) / 4;
}

double Problem::slope(std::size_t d, double x) const {
    switch (boundary_[d]) {
        case Boundary::dirichlet:
            return pi * std::cos(pi * x) + 3 * pi * std::cos(3 * pi * x) / 4;
        case Boundary::neumann:
            return -pi * std::sin(pi * x) - pi * std::sin(2 * pi * x) / 2;
        case Boundary::periodic:
            break;
    }
    return 2 * pi * std::cos(2 * pi * x) - pi * std::sin(4 * pi * x);
}

Formula Problem::exact_solution(int ratio) const {
    return [this, ratio](const Index& cell) {
        double u = 1.0;
        for (std::size_t d = 0; d < 3; ++d) u *= factor(d, ratio * (cell[d] + 0.5) / cells_[d]);
        return u;
    };
}

double Problem::manufactured_right_side(const Index& cell, int ratio) const {
    Point value;
    for (std::size_t d = 0; d < 3; ++d) value[d] = factor(d, ratio * (cell[d] + 0.5) / cells_[d]);
    double f = parameters_.a * mean_alpha(cell, ratio) * value[0] * value[1] * value[2];
    for (std::size_t d = 0; d < 3; ++d) {
        Index upper = cell;
        upper[d] += 1;
        const auto flux = [&](const Index& face) {  // beta du/dx
            const double du = slope(d, static_cast<double>(ratio * face[d]) / cells_[d]) / (cells_[d] * h_);
            return mean_beta(d, face, ratio) * du * value[(d + 1) % 3] * value[(d + 2) % 3];
        };
        f -= parameters_.b / (ratio * h_) * (flux(upper) - flux(cell));
    }
    return f;
}

Formula Problem::right_side(int ratio) const {
    const Index n = {cells_[0] / ratio, cells_[1] / ratio, cells_[2] / ratio};
    switch (parameters_.rhs) {
        case Rhs::manufactured:
            return [this, ratio](const Index& cell) { return manufactured_right_side(cell, ratio); };
        case Rhs::triangle:
            return [n](const Index& c) {
                return triangle((c[0] + 0.5) / n[0]) * triangle((c[1] + 0.5) / n[1]) *
                       triangle((c[2] + 0.5) / n[2]);
            };
        case Rhs::wave:
            return [n](const Index& c) {
                const double q = (static_cast<double>(c[0]) * n[1] + c[1]) * n[2] + c[2];
                return std::sin(2.59 * q) + 0.2 * std::cos(1.3 * q);
            };
        case Rhs::point:
            return [](const Index& c) { return c == Index{0, 0, 0} ? 1.0 : 0.0; };
        case Rhs::random:
            break;
    }
    return [n, seed = parameters_.seed](const Index& c) {
        const auto row = static_cast<std::uint64_t>(c[1]) +
                         static_cast<std::uint64_t>(n[1]) * static_cast<std::uint64_t>(c[2]);
        return uniform(seed, static_cast<std::uint64_t>(c[0]) + static_cast<std::uint64_t>(n[0]) * row);
    };
}

double set_right_side(Level& finest, const Problem& problem) {
    finest.plain->assign(finest.f, cube(finest.layout.width()), problem.right_side());
    return problem.singular() ? make_solvable(finest) : 0.0;
}

}  // namespace keel
