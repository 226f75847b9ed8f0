// The cycle as a whole: every boundary condition, smoother, interpolation, cycle and bottom solver ends with
// the solution.

#include <catch2/catch.hpp>

#include "solvers/krylov/methods.hpp"
#include "solvers/multigrid/multigrid.hpp"
#include "tests/solvers/golden_problem.hpp"

using namespace keel;
using namespace keel::test;

namespace {

Problem rough_with(const Boundaries& boundaries, double a) {
    return {.boxes = {2, 2, 2},
            .width = 8,
            .boundaries = boundaries,
            .a = a,
            .beta = "smooth10",
            .alpha = "wave"};
}

struct Result {
    SolveReport report;
    Whole u;  // on rank 0
};

Result solve(const Problem& problem, const MultigridOptions& options, const BottomOptions& bottom) {
    Setup setup(problem, {.bottom_box = options.bottom_box, .all_ghosts = true});
    Result result{Multigrid(setup.hierarchy, options, bottom).solve(), {}};
    result.u = setup.gather(setup.finest().u);

    // The verdict is that of the formulas. Rounding: eps D u / f.
    const double residual =
        setup.residual_by_formula() / setup.agreed(max_norm(setup.gather(setup.finest().f)));
    CHECK(std::abs(residual - result.report.residuals.back()) < 1e-3 * residual + 1e-13);
    CHECK(result.report.converged() == (result.report.residuals.back() <= options.tolerance));
    CHECK(static_cast<int>(result.report.residuals.size()) == result.report.cycles + 1);
    return result;
}

// An eigenvector of -laplace under a boundary condition: 1 for the periodic and Neumann mean, sines or
// cosines else.
double mode(Boundary boundary, int m, double x) {
    if (boundary == Boundary::periodic) return std::cos(m * two_pi * x);
    return boundary == Boundary::dirichlet ? std::sin(m * two_pi / 2 * x) : std::cos(m * two_pi / 2 * x);
}
double eigenvalue(Boundary boundary, int m) {
    const double k = boundary == Boundary::periodic ? m * two_pi : m * two_pi / 2;
    return k * k;
}

// A smooth function that is no eigenvector, and a u - b laplace u of it.
struct Exact {
    Problem problem;

    double sum(const Index& cell, bool rhs) const {
        const auto at = problem.centre(cell);
        double total = 0;
        for (const auto& [weight, m] : {std::pair{1.0, 1}, {0.3, 2}, {-0.2, 3}}) {
            double value = weight;
            double k2 = 0;
            for (std::size_t d = 0; d < 3; ++d) {
                const int n = d == 0 ? m : 1;
                value *= mode(problem.boundaries[d].low, n, at[d]);
                k2 += eigenvalue(problem.boundaries[d].low, n);
            }
            total += rhs ? (problem.a + problem.b * k2) * value : value;
        }
        return total;
    }
};

}  // namespace

TEST_CASE("boundary conditions, smoothers, interpolations and cycles all converge to one solution",
          "[exhaustive]") {
    for (const Boundaries& boundaries : {periodic, dirichlet, neumann, mixed})
        for (const double a : {0.9, 0.0}) {
            const Problem problem = rough_with(boundaries, a);
            if (a == 0.0 && !problem.singular()) continue;  // no other case than a = 0.9
            Whole reference;
            for (const std::string smoother : {"gsrb", "jacobi", "chebyshev"})
                for (const auto interpolation : {Interpolation::constant, Interpolation::linear})
                    for (const auto cycle : {Cycle::v, Cycle::f}) {
                        if (cycle == Cycle::f && smoother != "gsrb") continue;  // to save time
                        CAPTURE(name(boundaries[0].low), name(boundaries[1].low), a, smoother,
                                static_cast<int>(interpolation), static_cast<int>(cycle));
                        MultigridOptions options;
                        options.smoother = smoother;
                        options.interpolation = interpolation;
                        options.cycle = cycle;
                        BottomOptions bottom;
                        bottom.solver = "bicgstab_fused";
                        const Result result = solve(problem, options, bottom);
                        CHECK(result.report.converged());
                        CHECK(result.report.cycles <= (smoother == "gsrb" ? 14 : 25));
                        CHECK(result.report.missed_bottoms() == 0);
                        if (reference.values.empty()) reference = result.u;
                        double difference = 0;
                        for_each_index(problem.cells(), [&](const Index& c) {
                            difference = std::max(difference, std::abs(result.u(c) - reference(c)));
                        });
                        const double u = Communicator::world().max(max_norm(reference));
                        CHECK(Communicator::world().max(difference) < 1e-8 * u);
                        if (problem.singular()) CHECK(std::abs(mean(result.u)) < 1e-12 * u);
                    }
        }
}

TEST_CASE("a full multigrid cycle is what a solve begins with, without the norms") {
    for (const Boundaries& boundaries : {periodic, dirichlet, neumann, mixed})
        for (const double a : {0.9, 0.0}) {
            CAPTURE(name(boundaries[0].low), name(boundaries[1].low), a);
            Setup setup(rough_with(boundaries, a),
                        {.bottom_box = 2, .all_ghosts = true, .deterministic = true});
            if (setup.hierarchy.singular()) make_solvable(setup.finest());
            Multigrid multigrid(setup.hierarchy, {.cycle = Cycle::f, .bottom_box = 2, .max_cycles = 1}, {});
            const SolveReport report = multigrid.solve();
            const Whole expected = setup.gather(setup.finest().u);
            setup.finest().plain->fill(setup.finest().u, 1e3);
            const long reductions = setup.finest().reduction->count().calls;
            const auto visits = multigrid.full_cycle();
            CHECK(setup.finest().reduction->count().calls - reductions ==
                  (setup.hierarchy.singular() ? 1 : 0));
            const Whole found = setup.gather(setup.finest().u);
            CHECK(found.values == expected.values);
            CHECK(visits.size() == report.visits.size());
            CHECK(visits.size() == static_cast<std::size_t>(setup.hierarchy.levels()));
        }
}

TEST_CASE("boxes need not form a cube, and may shrink to a single cell, singular or not") {
    const int ranks = Communicator::world().size();
    for (const Index& boxes : {Index{3, 2, 1}, Index{1, 2, 3}, Index{6, 2, 1}, Index{5, 3, 1}}) {
        if (static_cast<int>(product(boxes)) < ranks) continue;
        for (const auto& [boundaries, a] :
             {std::pair{periodic, 0.9}, {neumann, 0.0}, {dirichlet, 0.9}, {mixed, 0.9}})
            for (const int bottom_box : {4, 1}) {
                CAPTURE(boxes[0], boxes[1], boxes[2], name(boundaries[1].low), bottom_box);
                Problem problem = rough_with(boundaries, a);
                problem.boxes = boxes;
                MultigridOptions options;
                options.bottom_box = bottom_box;
                const Result result = solve(problem, options, {});
                CHECK(result.report.converged());
                CHECK(result.report.cycles <= 16);
            }
    }
}

TEST_CASE("all bottom solvers lead to the same solution", "[exhaustive]") {
    for (const double a : {0.9, 0.0}) {
        const Scaling scaling = a == 0.0 ? Scaling::none : Scaling::jacobi;
        Whole reference;
        for (const std::string& name : method_names()) {
            CAPTURE(a, name);
            if (name == "chebyshev") continue;  // thousands of iterations: test_chebyshev_iteration.cpp
            MultigridOptions options;
            options.bottom_box = 2;
            options.max_cycles = 60;
            BottomOptions bottom;
            bottom.solver = name;
            bottom.scaling = scaling;
            bottom.sweeps = 24;
            const Problem problem = rough_with(a == 0.0 ? neumann : mixed, a);
            const Result result = solve(problem, options, bottom);
            CHECK(result.report.converged());
            for (const auto& visit : result.report.visits) {
                CHECK(visit.outcome == (name == "smooth" ? Outcome::not_tested : Outcome::converged));
                CHECK(visit.tested() == (name != "smooth"));
                if (visit.tested()) CHECK(visit.true_residual <= bottom.tolerance);
            }
            if (reference.values.empty()) reference = result.u;
            double difference = 0;
            for_each_index(problem.cells(), [&](const Index& c) {
                difference = std::max(difference, std::abs(result.u(c) - reference(c)));
            });
            const Communicator world = Communicator::world();
            CHECK(world.max(difference) < 1e-8 * world.max(max_norm(reference)));
        }
    }
}

TEST_CASE("a full multigrid pass solves to discretisation accuracy, far below one V-cycle") {
    for (const Boundaries& boundaries : {periodic, dirichlet, neumann, mixed}) {
        CAPTURE(name(boundaries[0].low), name(boundaries[1].low));
        const Problem problem{.boxes = {2, 2, 2}, .width = 16, .boundaries = boundaries};
        const Exact exact{problem};
        const auto error_after = [&](Cycle cycle, int cycles, double& residual) {
            Setup setup(problem, {.bottom_box = 4, .all_ghosts = true});
            setup.set(setup.finest().f, [&](const Index& c) { return exact.sum(c, true); });
            MultigridOptions options;
            options.cycle = cycle;
            options.interpolation = Interpolation::linear;
            options.max_cycles = cycles;
            residual = Multigrid(setup.hierarchy, options, {}).solve().residuals.back();
            const Whole u = setup.gather(setup.finest().u);
            double error = 0;
            for_each_index(u.cells, [&](const Index& c) {
                error = std::max(error, std::abs(u(c) - exact.sum(c, false)));
            });
            return setup.agreed(error);
        };
        double converged_residual = 0;
        double v_residual = 0;
        double f_residual = 0;
        const double discretisation = error_after(Cycle::v, 40, converged_residual);
        const double one_v = error_after(Cycle::v, 1, v_residual);
        const double one_f = error_after(Cycle::f, 1, f_residual);
        CHECK(converged_residual <= 1e-10);
        CHECK(discretisation > 1e-4);
        CHECK(one_f < 1.5 * discretisation);
        CHECK(one_v > 2 * discretisation);
        CHECK(f_residual < 0.3 * v_residual);
    }
}

TEST_CASE("a coarser level can be solved on its own") {
    const Problem problem = rough_with(mixed, 0.9);
    Setup setup(problem, {.bottom_box = 2});
    Multigrid multigrid(setup.hierarchy, {.bottom_box = 2}, {});
    Level& coarse = setup.hierarchy.level(1);
    setup.finest().operations.restrict_to(coarse.f, setup.finest().f);
    const Whole f = setup.gather(coarse, coarse.f);
    const std::vector<double> untouched =
        setup.finest().plain->read(setup.finest().f, cube(setup.problem.width));
    const SolveReport report = multigrid.solve(1);
    CHECK(report.converged());
    CHECK(report.cycles > 3);
    CHECK(multigrid.residual_norm(1) <= 1e-10 * setup.agreed(max_norm(f)));
    CHECK(untouched == setup.finest().plain->read(setup.finest().f, cube(setup.problem.width)));
}
