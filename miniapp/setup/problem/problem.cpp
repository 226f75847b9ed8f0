#include "miniapp/setup/problem/problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/check.hpp"
#include "kernels/hash.hpp"

namespace keel {
namespace {

constexpr double pi = std::numbers::pi;

// Triangle wave of period 1: 1 at 0, -1 at 1/2.
double triangle(double x) {
    return 4 * std::abs(x - std::floor(x) - 0.5) - 1;
}

// A linear solution, also on faces.
double linear(const std::array<double, 3>& x) {
    return 1 + x[0] - 2 * x[1] + x[2] / 2;
}

// A factor of the manufactured u, by the boundaries of its direction; and the derivative.
double factor(const Sides<Boundary>& sides, double x) {
    const auto [low, high] = sides;
    if (low == Boundary::periodic) return std::sin(2 * pi * x) + std::cos(4 * pi * x) / 4;
    if (low != high)
        return low == Boundary::neumann ? std::cos(pi * x / 2) + std::cos(3 * pi * x / 2) / 4
                                        : std::sin(pi * x / 2) + std::sin(3 * pi * x / 2) / 4;
    return low == Boundary::dirichlet ? std::sin(pi * x) + std::sin(3 * pi * x) / 4
                                      : std::cos(pi * x) + std::cos(2 * pi * x) / 4;
}
double slope(const Sides<Boundary>& sides, double x) {
    const auto [low, high] = sides;
    if (low == Boundary::periodic) return 2 * pi * std::cos(2 * pi * x) - pi * std::sin(4 * pi * x);
    if (low != high)
        return low == Boundary::neumann
                   ? -pi / 2 * std::sin(pi * x / 2) - 3 * pi / 8 * std::sin(3 * pi * x / 2)
                   : pi / 2 * std::cos(pi * x / 2) + 3 * pi / 8 * std::cos(3 * pi * x / 2);
    return low == Boundary::dirichlet ? pi * std::cos(pi * x) + 3 * pi * std::cos(3 * pi * x) / 4
                                      : -pi * std::sin(pi * x) - pi * std::sin(2 * pi * x) / 2;
}

// A coordinate as a drift of so much a step has moved it.
double drifted(double x, double drift, int step) {
    if (drift == 0) return x;
    x -= step * drift;
    return x - std::floor(x);
}

}  // namespace

double loss_of_a(const ProblemOptions& parameters, double spacing, bool has_dirichlet) {
    if (parameters.a == 0.0 || has_dirichlet) return 0.0;
    const double K = parameters.contrast;
    const double beta = parameters.coefficients == Coefficients::smooth     ? std::sqrt(std::max(K, 1 / K))
                        : parameters.coefficients == Coefficients::constant ? 1.0
                                                                            : std::max(K, 1.0);
    const double alpha = parameters.alpha == Alpha::constant ? 1.0 : 0.5;
    const auto [x, y, z] = parameters.anisotropy;
    const double faces = 2 * (x + y + (parameters.dimensions == 2 ? 0 : z)) * (parameters.b / parameters.a) *
                         beta / (spacing * spacing);
    return std::numeric_limits<double>::epsilon() * faces / alpha;
}

LineFunction::LineFunction(int cells, std::function<double(double)> function)
    : cells_(cells), function_(std::move(function)) {
    constexpr int most = 1 << 15;
    if (cells > most) return;
    for (int place = 0; place <= 2 * cells; ++place) values_.push_back(function_(0.5 * place / cells));
}

Problem::Problem(const ProblemOptions& parameters, const Layout& finest)
    : parameters_(parameters),
      finest_(finest),
      cells_(finest.cells()),
      h_(finest.spacing()),
      boundary_(finest.boundaries()),
      has_dirichlet_(finest.domain().has_dirichlet()),
      of_files_(parameters, finest) {
    tabulate_waves();
    for (std::size_t d = 0; d < finest.dimensions(); ++d) {
        const Sides<Boundary> sides = boundary_[d];
        factor_[d] = {cells_[d], [sides](double x) { return factor(sides, x); }};
        slope_[d] = {cells_[d], [sides](double x) { return slope(sides, x); }};
    }
}

void Problem::at_step(int n) {
    step_ = n;
    if (drifts()) tabulate_waves();
}

void Problem::tabulate_waves() {
    if (parameters_.coefficients != Coefficients::smooth) return;
    for (std::size_t d = 0; d < finest_.dimensions(); ++d)
        wave_[d] = {cells_[d], [drift = parameters_.drift[d], step = step_](double x) {
                        return std::sin(2 * pi * drifted(x, drift, step));
                    }};
}

Index Problem::finest_cells(int ratio) const {
    return in_each_direction(ratio, finest_.dimensions(), 1);
}

Problem::Point Problem::centre(const Index& c, const Index& n) const {
    return {(c[0] + 0.5) / n[0], (c[1] + 0.5) / n[1], finest_.dimensions() == 2 ? 0 : (c[2] + 0.5) / n[2]};
}

double Problem::alpha(const Point& x) const {
    if (parameters_.alpha == Alpha::constant) return 1.0;
    return 1.0 + 0.5 * std::cos(2 * pi * x[0]) * std::cos(2 * pi * x[1]) * std::cos(2 * pi * x[2]);
}

double Problem::beta(const Point& at) const {
    const double K = parameters_.contrast;
    Point x = at;
    for (std::size_t d = 0; d < 3; ++d) x[d] = drifted(x[d], parameters_.drift[d], step_);
    const bool plane = finest_.dimensions() == 2;
    if (parameters_.coefficients == Coefficients::smooth)
        return smooth_beta(std::sin(2 * pi * x[0]), std::sin(2 * pi * x[1]), std::sin(2 * pi * x[2]));
    if (parameters_.coefficients == Coefficients::ball) {
        const Point r{x[0] - 0.5, x[1] - 0.5, plane ? 0.0 : x[2] - 0.5};
        return r[0] * r[0] + r[1] * r[1] + r[2] * r[2] < 0.0625 ? K : 1.0;
    }
    if (parameters_.coefficients == Coefficients::front) {
        const double along_y = plane ? 1.0 : std::cos(2 * pi * x[1]);
        const double z0 = 0.5 + std::sin(2 * pi * x[0]) * along_y / 8;
        return std::pow(K, 0.5 * (1 + std::tanh(32 * (x[plane ? 1 : 2] - z0))));
    }
    return 1.0;
}

double Problem::smooth_beta(double x, double y, double z) const {
    return std::pow(parameters_.contrast, 0.5 * x * y * (finest_.dimensions() == 2 ? 1.0 : z));
}

double Problem::beta_at(const Index& place) const {
    const bool plane = finest_.dimensions() == 2;
    if (parameters_.coefficients == Coefficients::smooth)
        return smooth_beta(wave_[0](place[0]), wave_[1](place[1]), plane ? 1.0 : wave_[2](place[2]));
    return beta(
        {0.5 * place[0] / cells_[0], 0.5 * place[1] / cells_[1], plane ? 0.0 : 0.5 * place[2] / cells_[2]});
}

double Problem::mean_alpha(const Index& cell, int ratio) const {
    if (parameters_.alpha == Alpha::constant) return 1.0;
    const Index n = finest_cells(ratio);
    double sum = 0;
    for (int k = 0; k < n[2]; ++k)
        for (int j = 0; j < n[1]; ++j)
            for (int i = 0; i < n[0]; ++i) sum += alpha(centre(n * cell + Index{i, j, k}, cells_));
    return sum / (n[0] * n[1] * n[2]);
}

double Problem::mean_beta(std::size_t d, const Index& face, int ratio) const {
    if (parameters_.coefficients == Coefficients::constant) return parameters_.anisotropy[d];
    const std::size_t s = (d + 1) % 3;
    const std::size_t t = (d + 2) % 3;
    const Index n = finest_cells(ratio);
    Index place{};
    // The face at the far end of a periodic direction is the one at its beginning, to the last bit.
    const int at = boundary_[d].low == Boundary::periodic ? ratio * face[d] % cells_[d] : ratio * face[d];
    double sum = 0;
    for (int j = 0; j < n[t]; ++j)
        for (int i = 0; i < n[s]; ++i) {
            place[d] = 2 * at;
            place[s] = 2 * (n[s] * face[s] + i) + 1;
            place[t] = 2 * (n[t] * face[t] + j) + 1;
            sum += beta_at(place);
        }
    return parameters_.anisotropy[d] * sum / (n[s] * n[t]);
}

OperatorFormulas Problem::operator_formulas() const {
    OperatorFormulas formulas;
    formulas.singular = singular();
    formulas.a_alpha = [this](const Index& cell) { return parameters_.a * mean_alpha(cell, 1); };
    for (std::size_t d = 0; d < finest_.dimensions(); ++d)
        formulas.face[d] = [this, d](const Index& face) {
            const auto boundary = finest_.boundary_at(d, face);
            const double weight = !boundary ? 1.0 : *boundary == Boundary::dirichlet ? 2.0 : 0.0;
            return weight * parameters_.b * mean_beta(d, face, 1) / (h_ * h_);
        };
    return formulas;
}

Formula Problem::exact_solution(int ratio) const {
    return [this, ratio](const Index& cell) {
        double u = 1.0;
        for (std::size_t d = 0; d < finest_.dimensions(); ++d) u *= factor_[d](ratio * (2 * cell[d] + 1));
        return u;
    };
}

double Problem::manufactured_right_side(const Index& cell, int ratio) const {
    Point value{1, 1, 1};
    for (std::size_t d = 0; d < finest_.dimensions(); ++d) value[d] = factor_[d](ratio * (2 * cell[d] + 1));
    double f = parameters_.a * mean_alpha(cell, ratio) * value[0] * value[1] * value[2];
    for (std::size_t d = 0; d < finest_.dimensions(); ++d) {
        Index upper = cell;
        upper[d] += 1;
        const double v = value[(d + 1) % 3];
        const double w = value[(d + 2) % 3];
        // Inside the box around the domain: nothing on its sides, where u or du/dn is 0 by itself.
        const auto missing = [&](const Index& face) {
            const bool side =
                boundary_[d].low != Boundary::periodic && (face[d] == 0 || ratio * face[d] == cells_[d]);
            return side ? std::nullopt : finest_.boundary_at(d, ratio * face);
        };
        const auto flux = [&](const Index& face) {  // beta du/dx
            if (missing(face) == Boundary::neumann) return 0.0;
            const double du = slope_[d](2 * ratio * face[d]) / (cells_[d] * h_);
            return mean_beta(d, face, ratio) * du * v * w;
        };
        f -= parameters_.b / (ratio * h_) * (flux(upper) - flux(cell));
        for (const Index& face : {cell, upper})
            if (missing(face) == Boundary::dirichlet)
                f += dirichlet_part(d, face, ratio, factor_[d](2 * ratio * face[d]) * v * w);
    }
    return f;
}

// The part of f that comes from the value g on a face: ghost = 2 g - u.
double Problem::dirichlet_part(std::size_t d, const Index& face, int ratio, double g) const {
    return 2 * parameters_.b * mean_beta(d, face, ratio) / (ratio * h_ * ratio * h_) * g;
}

Formula Problem::source(int ratio) const {
    const Index of_cell = finest_cells(ratio);
    const Index n = {cells_[0] / of_cell[0], cells_[1] / of_cell[1], cells_[2] / of_cell[2]};
    switch (parameters_.rhs) {
        case Rhs::manufactured:
            return [this, ratio](const Index& cell) { return manufactured_right_side(cell, ratio); };
        case Rhs::triangle:
            return [this, n](const Index& c) {
                const Triple& drift = parameters_.drift;
                const Point x = centre(c, n);
                return triangle(x[0] - step_ * drift[0]) * triangle(x[1] - step_ * drift[1]) *
                       triangle(x[2] - step_ * drift[2]);
            };
        case Rhs::wave:
            return [this, n](const Index& c) {
                const double q = (static_cast<double>(c[0]) * n[1] + c[1]) * n[2] + c[2];
                const double phase = step_ / 10.0;
                return std::sin(2.59 * q + phase) + 0.2 * std::cos(1.3 * q + phase);
            };
        case Rhs::point:
            return [](const Index& c) { return c == Index{0, 0, 0} ? 1.0 : 0.0; };
        case Rhs::zero:
            return [](const Index&) { return 0.0; };
        case Rhs::linear:
            return [this, n, ratio](const Index& c) {
                return parameters_.a * mean_alpha(c, ratio) * linear(centre(c, n));
            };
        case Rhs::file:
            return [this](const Index& c) { return of_files_.at(c); };
        case Rhs::random:
            break;
    }
    return [this, n, seed = parameters_.seed](const Index& c) {
        const auto row = static_cast<std::uint64_t>(c[1]) +
                         static_cast<std::uint64_t>(n[1]) * static_cast<std::uint64_t>(c[2]);
        const auto cell = static_cast<std::uint64_t>(c[0]) + static_cast<std::uint64_t>(n[0]) * row;
        const double f = uniform(seed, cell);
        return step_ == 0 ? f : f + 0.1 * step_ * uniform(seed + 1, cell);
    };
}

Formula Problem::right_side(int ratio) const {
    if (!has_data()) return source(ratio);
    check_equal(ratio, 1, "boundary values are in the finest right-hand side alone");
    return [this, f = source()](const Index& cell) { return f(cell) + data_part(cell); };
}

double Problem::data(const Point& x) const {
    if (parameters_.data == BoundaryData::linear) return linear(x);
    return 0.5 + std::cos(pi * x[0]) * std::cos(pi * x[1]) * std::cos(pi * x[2]);
}

double Problem::data_part(const Index& cell) const {
    double f = 0;
    for (std::size_t d = 0; d < finest_.dimensions(); ++d)
        for (const int side : {0, 1}) {
            Index face = cell;
            face[d] += side;
            if (finest_.boundary_at(d, face) != Boundary::dirichlet) continue;
            Point x = centre(face, cells_);
            x[d] = static_cast<double>(face[d]) / cells_[d];
            const bool formula = parameters_.data != BoundaryData::file;
            f += dirichlet_part(d, face, 1,
                                formula ? data(x) : of_files_.at(cell, 2 * static_cast<int>(d) + side));
        }
    return f;
}

double set_right_side(Level& finest, const Problem& problem) {
    finest.plain->assign(finest.f, finest.layout.box_cells(), problem.right_side());
    return problem.singular() ? make_solvable(finest) : 0.0;
}

}  // namespace keel
