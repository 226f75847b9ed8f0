// Conjugate gradients around V-cycles.

#include <catch2/catch.hpp>
#include <cmath>

#include "solvers/multigrid/multigrid.hpp"
#include "tests/solvers/golden_problem.hpp"

using namespace keel;
using namespace keel::test;

namespace {

double dot(Setup& setup, Field x, Field y) {
    return system_of(setup.finest()).dot(x, y);
}

}  // namespace

TEST_CASE("a step of the accelerator leaves an error orthogonal to this step and to the one before") {
    const Problem problem{.boxes = {2, 2, 2},
                          .width = 8,
                          .boundaries = mixed,
                          .beta = "ball1000",
                          .alpha = "wave",
                          .exactly_periodic = true};
    Setup setup(problem, {.bottom_box = 2, .deterministic = true});
    Level& level = setup.finest();
    MultigridOptions options{.accelerator = Accelerator::cg, .pre = 1, .post = 2, .tolerance = 1e-14};
    std::vector<Field> u(5);  // after so many steps; the first is zero
    for (Field& field : u) field = level.plain->make_field();
    for (int steps = 1; steps < 5; ++steps) {
        options.max_cycles = steps;
        Multigrid(setup.hierarchy, options, BottomOptions{}).solve();
        const Field solution = u[static_cast<std::size_t>(steps)];
        level.plain->copy(solution, level.u);
        level.ghosts->run(level.u);
        level.plain->residual(level.r, level.L, level.u, level.f);  // L times the error
        for (int back = 0; back < std::min(steps, 2); ++back) {
            CAPTURE(steps, back);
            const Field step = level.plain->make_field();
            const auto after = static_cast<std::size_t>(steps - back);
            level.plain->axpby(step, 1, u[after], -1, u[after - 1]);
            const double cosine =
                dot(setup, level.r, step) / std::sqrt(dot(setup, level.r, level.r) * dot(setup, step, step));
            CHECK(std::abs(cosine) < 1e-8);
        }
    }
}

TEST_CASE("the accelerator takes fewer cycles where cycles alone take many") {
    struct Case {
        Boundaries boundaries;
        double a;
        Interpolation interpolation;
        Cycle cycle;
    };
    for (const auto& [boundaries, a, interpolation, cycle] : {
             Case{mixed, 0.9, Interpolation::constant, Cycle::v},
             Case{periodic, 0.0, Interpolation::linear, Cycle::v},  // singular
             Case{neumann, 0.0, Interpolation::constant, Cycle::v},
             Case{dirichlet, 0.9, Interpolation::linear, Cycle::f},
         }) {
        CAPTURE(boundaries, a);
        const Problem problem{.boxes = {2, 2, 2},
                              .width = 8,
                              .boundaries = boundaries,
                              .a = a,
                              .beta = "ball1000",
                              .exactly_periodic = true};
        Setup setup(problem, {.bottom_box = 2, .all_ghosts = true});
        if (setup.hierarchy.singular()) make_solvable(setup.finest());
        MultigridOptions options{.cycle = cycle,
                                 .pre = 1,
                                 .post = 1,
                                 .interpolation = interpolation,
                                 .tolerance = 1e-9,
                                 .max_cycles = 200};
        const SolveReport plain = Multigrid(setup.hierarchy, options, BottomOptions{}).solve();
        options.accelerator = Accelerator::cg;
        Multigrid accelerated(setup.hierarchy, options, BottomOptions{});
        const SolveReport report = accelerated.solve();
        CHECK(report.converged());
        CHECK(report.cycles < plain.cycles);
        // Believed is the residual that is computed anew.
        double norm_f = 0;
        Level& level = setup.finest();
        level.operations.max_norm(level.f, norm_f);
        CHECK(accelerated.residual_norm(0) <= 1e-9 * level.reduction->max(norm_f) * (1 + 1e-6));
        // The same again, though vectors are kept.
        const SolveReport again = accelerated.solve();
        CHECK(again.cycles == report.cycles);
    }
}
