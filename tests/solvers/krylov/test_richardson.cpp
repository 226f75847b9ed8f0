// Richardson's iteration: what a step does to an eigenvector, and that it gets to the solution, however
// slowly.

#include <catch2/catch.hpp>

#include "solvers/multigrid/bottom/level_krylov.hpp"
#include "tests/solvers/krylov/one_level.hpp"

using namespace keel;
using namespace keel::test;

TEST_CASE("a step of Richardson's iteration multiplies an eigenvector by 1 - omega lambda") {
    // The checkerboard, for the largest eigenvalue, a + 12 c; and the constant, for the least, a.
    const Problem problem{.boxes = {2, 2, 2}, .width = 4, .a = 300.0};
    const double largest = problem.a + 12 * problem.face(0, {0, 0, 0});
    OneLevel system(problem);
    for (const bool checkerboard : {true, false})
        for (const Spectrum& bounds : {Spectrum{0.0, largest}, {problem.a, largest}, {10.0, 2 * largest}}) {
            CAPTURE(checkerboard, bounds.lowest, bounds.highest);
            system.setup.set(system.level.f, [&](const Index& c) {
                return checkerboard && (c[0] + c[1] + c[2]) % 2 == 1 ? -1.0 : 1.0;
            });
            const double omega =
                bounds.lowest > 0 ? 2 / (bounds.lowest + bounds.highest) : 1 / bounds.highest;
            const double factor = std::abs(1 - omega * (checkerboard ? largest : problem.a));
            const Report report = system.solve(made("richardson", {}, bounds), {1e-9, 5, 0});
            for (std::size_t k = 0; k < report.residuals.size(); ++k)
                CHECK(report.residuals[k] == Approx(std::pow(factor, k)).margin(1e-12));
        }
}

TEST_CASE("Richardson's iteration finds the solution under every boundary condition, singular or not") {
    for (const Boundaries& boundaries : {periodic, dirichlet, neumann, mixed})
        for (const double a : {0.7, 0.0})
            for (const Scaling scaling : {Scaling::jacobi, Scaling::none}) {
                CAPTURE(name(boundaries[0].low), name(boundaries[2].low), a, name(scaling));
                // Right-hand sides with all there is in them, the slowest modes and the checkerboard too.
                const Problem problem{.boxes = {2, 2, 2},
                                      .width = 2,
                                      .boundaries = boundaries,
                                      .a = a,
                                      .b = 1.3,
                                      .beta = "smooth10",
                                      .alpha = "wave",
                                      .rhs = "hash"};
                Setup setup(problem, {.bottom_box = 2});
                Level& level = setup.finest();
                const auto krylov = make_krylov(
                    level, problem.singular(),
                    {.solver = "richardson", .tolerance = 1e-9, .max_iterations = 20000, .scaling = scaling});
                const Report report = krylov->solve(level.u, level.f);
                CHECK(report.succeeded());
                CHECK(report.restarts <= 1);

                const Whole u = setup.gather(level.u);
                const Whole f = setup.gather(level.f);  // without its mean, where that matters
                if (setup.comm.rank() != 0) continue;
                const Whole r = residual_by_formula(problem, u, f);
                CHECK(two_norm(r) < 1e-7 * two_norm(f));
            }
}

TEST_CASE("Richardson's iteration that has not converged at the limit says so") {
    Setup setup({.boxes = {2, 2, 2}, .width = 4}, {.bottom_box = 4});
    Level& level = setup.finest();
    const Report report =
        make_krylov(level, false, {.solver = "richardson", .tolerance = 1e-9, .max_iterations = 10})
            ->solve(level.u, level.f);
    CHECK(report.outcome == Outcome::iteration_limit);
    CHECK(report.iterations == 10);
    CHECK_FALSE(report.met);
    // The first all-reduce, one an iteration, and the verification's; the first and last also without the
    // scaling.
    CHECK(report.counts.reductions == 12);
    CHECK(report.counts.words == 14);
    CHECK(report.counts.exchanges == 11);
}
