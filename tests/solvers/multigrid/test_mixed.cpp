// Cycles in single precision, residuals and updates in double: the tolerance of double precision in as many
// cycles, or one more.

#include <catch2/catch.hpp>

#include "solvers/krylov/methods.hpp"
#include "solvers/multigrid/multigrid.hpp"
#include "solvers/multigrid/stages.hpp"
#include "tests/solvers/golden_file.hpp"

using namespace keel;
using namespace keel::test;

namespace {

bool able() {
    return backend_info(chosen_backend()->name()).features.single_precision;
}

HierarchyOptions mixing(HierarchyOptions options, Precision faces = Precision::fp32) {
    options.mixed = true;
    options.faces = faces;
    return options;
}

struct MixedSolution {
    SolveReport report;
    Whole u;
};

MixedSolution solve_mixed(Setup& setup, const MultigridOptions& options, const BottomOptions& bottom) {
    Multigrid multigrid(setup.hierarchy, options, bottom);
    MixedSolution solved{multigrid.solve(), {}};
    double norm_f = 0;
    setup.finest().plain->max_norm(setup.finest().f, norm_f);
    CHECK(multigrid.residual_norm(0) <= options.tolerance * setup.comm.max(norm_f));
    solved.u = setup.gather(setup.finest().u);
    return solved;
}

}  // namespace

TEST_CASE("mixed precision takes the golden cycles, or one more", "[golden]") {
    if (!able()) return;
    for (const int m : {1, 2}) {
        if (!enough_boxes({m, m, m})) continue;
        const auto file = golden("open_mg.json");
        for (const auto& json : in_turns(file.at("cases"))) {
            const auto& chosen = json.at("problem");
            const int bottom_box = chosen.at("Nb").get<int>() / m;
            INFO(chosen.dump() << " in " << m << "^3 boxes");
            const bool linear = chosen.at("interp") == "pl";
            MultigridOptions options;
            options.pre = options.post = chosen.at("nu");
            options.interpolation = linear ? Interpolation::linear : Interpolation::constant;
            options.bottom_box = bottom_box;
            const BottomOptions bottom{.tolerance = chosen.at("btol"), .max_iterations = 1000};
            Setup setup(problem_of(chosen, m), mixing({.bottom_box = bottom_box, .all_ghosts = linear}));
            if (setup.hierarchy.levels() < 2) continue;
            const MixedSolution solved = solve_mixed(setup, options, bottom);
            CHECK(solved.report.converged());
            CHECK(solved.report.cycles <= json.at("cycles").get<int>() + 1);
            CHECK(solved.report.measured_after.size() == solved.report.residuals.size());
            CHECK(solved.report.measured_after.back() == solved.report.cycles);
            CHECK(solved.report.residuals.size() < static_cast<std::size_t>(solved.report.cycles));
            CHECK(static_cast<int>(solved.report.visits.size()) == solved.report.cycles);
            const double h = setup.problem.h();
            if (!setup.problem.singular())
                CHECK(relative(setup.agreed(std::sqrt(h * h * h) * two_norm(solved.u)), json.at("u_l2")) <
                      1e-9);
        }
    }
}

TEST_CASE("mixed precision solves what double does") {
    if (!able()) return;
    struct Variant {
        Problem problem;
        MultigridOptions multigrid;
        HierarchyOptions hierarchy = {};
        BottomOptions bottom = {};
        int fused = 0;  // narrowest boxes with fused half sweeps; 0: none
        int more = 1;   // cycles than in double precision, at most
    };
    const BottomOptions few{.max_iterations = 60};
    BottomOptions relaxed;
    relaxed.solver = "smooth";
    relaxed.sweeps = 30;
    BottomOptions steps = few;
    steps.solver = "ca_bicgstab";
    steps.powers = Powers::matrix_powers;
    const Variant variants[] = {
        {{.width = 2, .boundaries = dirichlet}, {}, {.bottom_box = 1}, few},
        {{.boxes = {3, 1, 2}, .width = 4, .beta = "smooth10"}, {}, {.bottom_box = 2}, few},
        {{.boxes = {2, 2, 1}, .width = 8, .boundaries = neumann, .a = 0.0, .rhs = "wave"},
         {.interpolation = Interpolation::linear},
         {.bottom_box = 2, .all_ghosts = true},
         few},
        {{.boxes = {2, 1, 2}, .width = 8, .boundaries = mixed, .beta = "ball1000", .alpha = "wave"},
         {.smoother = "chebyshev"},
         {.bottom_box = 4},
         steps},
        {{.width = 8, .boundaries = mixed, .a = 0.0, .beta = "smooth1000"},
         {.cycle = Cycle::f, .pre = 1, .post = 2},
         {.bottom_box = 2, .storage = Storage::blocks, .all_ghosts = true},
         few,
         4},
        {{.width = 16, .boundaries = dirichlet, .a = 0.0, .b = 3e-9, .rhs = "hash"},
         {.relaxation = 1.15},
         {.bottom_box = 4, .storage = Storage::blocks},
         relaxed,
         8},
        {{.boxes = {2, 2, 1},
          .width = 16,
          .boundaries = dirichlet,
          .a = 0.0,
          .b = 1e12,
          .beta = "smooth10",
          .dimensions = 2},
         {.smoother = "jacobi"},
         {.bottom_box = 4, .bottom_grid = BottomRanks::one},
         few},
        {{.boxes = {4, 2, 1}, .width = 8, .boundaries = dirichlet, .a = 0.0, .dimensions = 2},
         {},
         {.bottom_box = 2, .bottom_grid = BottomRanks::all},
         few,
         4},
    };
    for (const auto& [problem, multigrid, hierarchy, bottom, fused, more] : variants) {
        CAPTURE(problem.boxes, problem.width, problem.beta, problem.dimensions);
        if (!enough_boxes(problem.boxes)) continue;
        HierarchyOptions options = hierarchy;
        if (fused > 0) {
            options.fused = fusible_half_sweeps(multigrid);
            options.fused_width = fused;
        }
        options.bottom_ghosts = powers_need(bottom, hierarchy.bottom_box).layers;
        Setup in_double(problem, options);
        Setup in_both(problem, mixing(options));
        const MixedSolution expected = solve_mixed(in_double, multigrid, bottom);
        const MixedSolution found = solve_mixed(in_both, multigrid, bottom);
        Setup with_half(problem, mixing(options, Precision::fp16));
        const MixedSolution rounded = solve_mixed(with_half, multigrid, bottom);
        CHECK(rounded.report.converged());
        CHECK(rounded.report.cycles <= expected.report.cycles + more);
        options.ghosts = Precision::fp32;
        Setup sending(problem, options);
        const MixedSolution sent = solve_mixed(sending, multigrid, bottom);
        CHECK(sent.report.converged());
        CHECK(sent.report.cycles <= expected.report.cycles + more);
        CHECK(sending.hierarchy.cycled(0).u.precision() == Precision::fp64);
        MultigridOptions accelerated = multigrid;
        accelerated.accelerator = Accelerator::cg;
        CHECK(solve_mixed(sending, accelerated, bottom).report.converged());
        CHECK(expected.report.converged());
        CHECK(found.report.converged());
        CHECK(found.report.cycles <= expected.report.cycles + more);
        for (const Whole* const u : {&found.u, &rounded.u, &sent.u}) {
            double gap = 0;
            for (std::size_t n = 0; n < u->values.size(); ++n)
                gap = std::max(gap, std::abs(u->values[n] - expected.u.values[n]));
            CHECK(gap <= 1e-7 * max_norm(expected.u));
        }
        // Once for each residual; none of the cycles' own.
        const long tests = static_cast<long>(found.report.residuals.size()) - 1;
        CHECK(in_both.hierarchy.level(0).ghosts->count() == tests + 1);
        CHECK(in_both.hierarchy.level(0).fused == 0);
        CHECK(in_both.hierarchy.cycled(0).fused == in_double.hierarchy.level(0).fused);
        CHECK(in_both.hierarchy.cycled(0).u.precision() == Precision::fp32);
    }
}

TEST_CASE("mixed precision solves for the smallest and largest right-hand sides that double solves for") {
    if (!able()) return;
    const Problem problems[] = {{.width = 8, .boundaries = dirichlet, .beta = "smooth10"},
                                {.boxes = {2, 2, 1}, .width = 8, .boundaries = dirichlet, .a = 0.0, .b = 1e9},
                                {.boxes = {3, 1, 1}, .width = 8, .boundaries = mixed, .b = 3e-9}};
    for (const Problem& problem : problems) {
        if (!enough_boxes(problem.boxes)) continue;
        const auto solved = [&](bool in_both, int exponent) {
            const HierarchyOptions options{.bottom_box = 2};
            Setup setup(problem, in_both ? mixing(options) : options);
            Level& finest = setup.finest();
            finest.plain->axpby(finest.f, std::ldexp(1.0, exponent), finest.f, 0, finest.f);
            return Multigrid(setup.hierarchy, {.max_cycles = 60}, {}).solve();
        };
        const SolveReport plain = solved(true, 0);
        CHECK(plain.converged());
        int solvable = 0;
        for (const int exponent : {-1020, -1012, -1002, -997, -980, -900, 900, 980, 1010, 1020}) {
            CAPTURE(problem.b, exponent);
            if (!solved(false, exponent).converged()) continue;
            ++solvable;
            const SolveReport found = solved(true, exponent);
            CHECK(found.converged());
            // Powers of two change no digit where residuals are normal numbers.
            if (exponent >= -980) CHECK(found.residuals == plain.residuals);
        }
        CHECK(solvable >= 7);
    }
}

TEST_CASE("a tolerance below rounding ends as stagnated in mixed precision, too") {
    if (!able()) return;
    Setup setup({.width = 8, .boundaries = dirichlet}, mixing({.bottom_box = 4}));
    Multigrid multigrid(setup.hierarchy, {.tolerance = 1e-17, .max_cycles = 200}, {});
    const SolveReport report = multigrid.solve();
    CHECK(report.outcome == Outcome::stagnated);
    REQUIRE(report.floor);
    CHECK(report.residuals.back() < 1e-13);
    CHECK(report.cycles < 60);
}

TEST_CASE("mixed precision goes on from any u, after other coefficients, to zero for zero") {
    if (!able()) return;
    const Precision faces = GENERATE(Precision::fp32, Precision::fp16);
    Problem problem{.width = 8, .boundaries = dirichlet};
    Setup setup(problem, mixing({.bottom_box = 2}, faces));
    Multigrid multigrid(setup.hierarchy, {}, {});
    const int from_zero = multigrid.solve().cycles;
    const SolveReport again = multigrid.solve(0, Guess::any);
    CHECK(again.cycles == 0);
    problem.beta = "smooth10";
    setup.hierarchy.update(problem.formulas(), setup.comm);
    multigrid.update();
    const SolveReport other = multigrid.solve(0, Guess::any);
    CHECK(other.converged());
    CHECK(other.residuals.front() < 1e3);
    CHECK(other.cycles <= from_zero + 3);
    const SolveReport below = multigrid.solve(1);  // whatever f is there
    CHECK((below.converged() || below.residuals.size() > 1));
    setup.finest().plain->fill(setup.finest().f, 0.0);
    const SolveReport zero = multigrid.solve(0, Guess::any);
    CHECK(zero.converged());
    CHECK(zero.cycles == 0);
    CHECK_THROWS(multigrid.full_cycle());
    CHECK_THROWS(multigrid.cycle(setup.finest().u, setup.finest().f, Guess::any));
}

TEST_CASE("a stage is no longer than what is left, than single precision has digits, and than five cycles") {
    const auto cycles = [](std::vector<double> residuals, std::vector<int> after, double tolerance,
                           double presumed_factor = 0.1, int cells = 16, bool rounds_faces = false) {
        return cycles_of_next_stage(residuals, after, {tolerance, presumed_factor, cells, rounds_faces});
    };
    CHECK(cycles({1}, {0}, 1e-10) == 3);
    CHECK(cycles({1}, {0}, 1e-2) == 2);
    CHECK(cycles({1}, {0}, 0.5) == 1);
    CHECK(cycles({1, 1e-3}, {0, 3}, 1e-10) == 4);
    CHECK(cycles({1, 1e-3}, {0, 3}, 1e-12, 0.1, 64) == 3);
    CHECK(cycles({1, 1e-3}, {0, 3}, 1e-10, 0.1, 16, true) == 2);
    CHECK(cycles({1}, {0}, 1e-10, 0.1, 1024) == 2);
    CHECK(cycles({1}, {0}, 1e-10, 0.03, 64) == 3);
    CHECK(cycles({1}, {0}, 1e-10, 0.001, 4096) == 1);
    CHECK(cycles({1, 1e-5}, {0, 5}, 1e-10) == 5);
    CHECK(cycles({1, 1e-4}, {0, 4}, 1e-10) == 3);
    CHECK(cycles({1, 1e-5, 2e-10}, {0, 5, 9}, 1e-10) == 1);
    CHECK(cycles({1, 1e-5, 1e-5}, {0, 5, 9}, 1e-10) == 5);  // gains nothing
    CHECK(cycles({1, 1e-5, 1e-3}, {0, 5, 9}, 1e-10) == 5);
}
