// Smoothers: what they do to modes whose fate is known exactly, and the bounds that they are made for.

#include <catch2/catch.hpp>

#include "solvers/multigrid/smoothers/smoother.hpp"
#include "solvers/systems/grid_system.hpp"
#include "tests/solvers/golden_problem.hpp"

using namespace keel;
using namespace keel::test;

namespace {

MultigridOptions with(const std::string& smoother) {
    MultigridOptions options;
    options.smoother = smoother;
    return options;
}

// T_n(x) of the first kind
double chebyshev(int n, double x) {
    double before = 1;
    double here = n == 0 ? 1 : x;
    for (int m = 1; m < n; ++m) before = std::exchange(here, 2 * x * here - before);
    return here;
}

}  // namespace

TEST_CASE("the checkerboard is damped by the factor that theory gives") {
    // With constant coefficients +-1 (red, black) is an eigenvector of D^-1 L; lambda = 1 + g, g = 6 c / D.
    const Problem problem{.boxes = {2, 2, 2}, .width = 4, .a = 300.0, .b = 0.9};
    const double c = problem.face(0, {0, 0, 0});
    const double g = 6 * c / (problem.a + 6 * c);
    const double lambda = 1 + g;
    for (int sweeps = 1; sweeps <= 4; ++sweeps)
        for (const auto& [smoother, relaxation] : std::vector<std::pair<std::string, double>>{
                 {"gsrb", 1.0}, {"gsrb", 1.4}, {"jacobi", 1.0}, {"chebyshev", 1.0}}) {
            CAPTURE(smoother, relaxation, sweeps);
            Setup setup(problem, {.bottom_box = 4});
            Level& level = setup.finest();
            level.operations.fill(level.f, 0.0);
            setup.set(level.u, [](const Index& i) { return (i[0] + i[1] + i[2]) % 2 == 0 ? 1.0 : -1.0; });
            MultigridOptions options = with(smoother);
            options.relaxation = relaxation;
            smooth(level, level.operations, sweeps, options);

            double red = 0;
            double black = 0;
            if (smoother == "gsrb") {  // red towards g black, then black towards g red
                red = 1;
                black = -1;
                for (int sweep = 0; sweep < sweeps; ++sweep) {
                    red += relaxation * (g * black - red);
                    black += relaxation * (g * red - black);
                }
            } else if (smoother == "jacobi") {
                red = std::pow(1 - 2.0 / 3.0 * lambda, sweeps);
                black = -red;
            } else {
                const double bound = lambda;  // Gershgorin's bound is attained by this very mode
                CHECK(relative(level.jacobi_bound, bound) < 1e-14);
                const double theta = (bound + bound / 8) / 2;
                const double delta = (bound - bound / 8) / 2;
                red = chebyshev(sweeps, (theta - lambda) / delta) / chebyshev(sweeps, theta / delta);
                black = -red;
            }
            const Whole u = setup.gather(level.u);
            double difference = 0;
            for_each_index(u.cells, [&](const Index& i) {
                difference =
                    std::max(difference, std::abs(u(i) - ((i[0] + i[1] + i[2]) % 2 == 0 ? red : black)));
            });
            CHECK(setup.agreed(difference) < 1e-13);
        }
}

TEST_CASE("bounds of the spectra of L and D^-1 L are Gershgorin's over all cells, on every rank") {
    for (const Boundaries& boundaries : {periodic, dirichlet, neumann, mixed}) {
        CAPTURE(name(boundaries[0].low), name(boundaries[1].low));
        // Not symmetric under exchange of boxes: one box alone attains the bound.
        const Problem problem{.boxes = {3, 2, 2},
                              .width = 4,
                              .boundaries = boundaries,
                              .a = 1e3,
                              .beta = "ball10",
                              .alpha = "wave"};
        Setup setup(problem, {.bottom_box = 2});
        double of_L = 0, of_jacobi = 0;
        for_each_index(problem.cells(), [&](const Index& cell) {
            double faces = 0, coupled = 0;  // all, and those with a cell beyond
            for (std::size_t d = 0; d < 3; ++d)
                for (const int side : {0, 1}) {
                    Index face = cell;
                    face[d] += side;
                    const bool outer = face[d] == 0 || face[d] == problem.cells()[d];
                    faces += problem.face(d, face);
                    if (!outer || boundaries[d] == Boundary::periodic) coupled += problem.face(d, face);
                }
            of_L = std::max(of_L, problem.a_alpha(cell) + faces + coupled);
            of_jacobi = std::max(of_jacobi, 1 + faces / (problem.a_alpha(cell) + faces));
        });
        CHECK(of_jacobi < 1.999);
        CHECK(relative(setup.finest().jacobi_bound, of_jacobi) < 1e-14);
        CHECK(relative(setup.finest().gershgorin_bound, of_L) < 1e-14);
        CHECK(setup.hierarchy.bottom().gershgorin_bound < 0.9 * of_L);
    }
}
