#include "miniapp/modes/grids/fixed_point/fixed_point.hpp"

#include <array>
#include <cmath>
#include <numbers>

#include "miniapp/setup/problem/problem.hpp"

namespace keel {
namespace {

// f = L u + phi(u) in cells, of u = sin^2(pi x) sin^2(pi y) sin^2(pi z), or without z, along the sides of the
// domain: Lockhart 2023, (6.11).
Formula heat_right_side(const Layout& finest, const Reaction& phi) {
    const double h = finest.spacing();
    const Index n = finest.cells();
    return [=](const Index& cell) {
        constexpr double pi = std::numbers::pi;
        std::array<double, 3> value{1, 1, 1}, curvature{};
        for (std::size_t d = 0; d < finest.dimensions(); ++d) {
            const double x = (cell[d] + 0.5) / n[d];
            const double per_length = 1 / (h * n[d]);  // x is 1 at the end of a side of length h n
            value[d] = std::pow(std::sin(pi * x), 2);
            curvature[d] = 2 * pi * pi * std::cos(2 * pi * x) * per_length * per_length;
        }
        const double laplace = curvature[0] * value[1] * value[2] + value[0] * curvature[1] * value[2] +
                               value[0] * value[1] * curvature[2];
        return -laplace + phi(value[0] * value[1] * value[2]);
    };
}

}  // namespace

PosedFixedPoint::PosedFixedPoint(Hierarchy& hierarchy, const GridSetup& grids,
                                 const FixedPointOptions& equation)
    : top_(hierarchy.level(0)),
      from_full_multigrid_(grids.multigrid.cycle == Cycle::f),
      vectors_(top_.operations, *top_.ghosts, *top_.reduction, top_.L, DiagonalScaling::none),
      u_(vectors_.make_vector()) {
    const bool has_f = !equation.is_linear() && !equation.is_mixture();
    f_ = has_f ? vectors_.make_vector() : top_.f;
    if (equation.is_heat())
        top_.plain->assign(f_, top_.layout.box_cells(), heat_right_side(top_.layout, equation.phi()));

    const auto& solvers = grids.use.solvers;
    if (equation.is_mixture())
        map_ = std::make_unique<Mixture>(
            *top_.plain, *top_.reduction, Mixture::all_samples,
            equation.equation == Equation::mixture_random ? std::optional(grids.problem.seed) : std::nullopt);
    else if (equation.by_fas())
        map_ = std::make_unique<FasMap>(hierarchy, grids.multigrid, *grids.use.full_approximation,
                                        equation.phi(), f_);
    else if (equation.is_linear())
        map_ = std::make_unique<CycleMap>(hierarchy, grids.multigrid, solvers.front().options);
    else
        map_ = std::make_unique<SolveMap>(hierarchy, grids.multigrid, solvers.front().options, equation.phi(),
                                          f_);
}

const char* PosedFixedPoint::norm_of(const AndersonOptions& options) const {
    if (map().has_residual()) return "max|f - N(u)| / max|f - N(0)|";
    return options.test == AndersonTest::step       ? "max|u_{i+1} - u_i|"
           : options.test == AndersonTest::residual ? "max|G(u) - u|"
                                                    : "|G(u) - u|_2";
}

void PosedFixedPoint::begin() {
    if (auto* const mixture = dynamic_cast<Mixture*>(map_.get()))
        mixture->set(u_, Mixture::start);
    else
        top_.plain->fill(u_, 0.0);
}

AndersonReport PosedFixedPoint::solve(Anderson& anderson) {
    if (auto* const fas = dynamic_cast<FasMap*>(map_.get()); fas && from_full_multigrid_) fas->start(u_);
    return anderson.solve(u_, map());
}

}  // namespace keel
