// Half sweeps fused into one pass after one deep exchange: the same solutions to the last bit, with fewer
// exchanges.

#include <catch2/catch.hpp>

#include "solvers/multigrid/multigrid.hpp"
#include "solvers/multigrid/v_cycle.hpp"
#include "tests/solvers/golden_problem.hpp"

using namespace keel;
using namespace keel::test;

namespace {

HierarchyOptions fusing(int half_sweeps, int narrowest, HierarchyOptions options) {
    options.fused = half_sweeps;
    options.fused_width = narrowest;
    return options;
}

std::vector<double> solution(Setup& setup) {
    return setup.finest().plain->read(setup.finest().u, setup.finest().layout.box_cells());
}

}  // namespace

TEST_CASE("fused half sweeps change no bit of a deterministic solve") {
    struct Variant {
        Index boxes;
        int width;
        Boundaries boundaries;
        double a;
        MultigridOptions multigrid;
        int narrowest;  // boxes with fused half sweeps
        int dimensions = 3;
    };
    // One box that is its own neighbour on every side, odd numbers of boxes, a coarse level that is not
    // fused; periodic and Neumann with a = 0 are singular.
    const Variant variants[] = {
        {{2, 2, 2}, 8, mixed, 0.9, {.pre = 2, .post = 2}, 4},
        {{1, 1, 1}, 8, periodic, 0.0, {.pre = 2, .post = 2}, 4},
        {{3, 1, 2}, 8, dirichlet, 0.9, {.cycle = Cycle::f, .pre = 2, .post = 1}, 8},
        {{2, 3, 1}, 16, neumann, 0.0, {.pre = 1, .post = 3, .interpolation = Interpolation::linear}, 8},
        {{4, 2, 2}, 8, periodic, 0.9, {.pre = 0, .post = 2, .relaxation = 1.3}, 4},
        {{2, 1, 2}, 8, mixed, 0.9, {.accelerator = Accelerator::cg, .pre = 1, .post = 2}, 4},
        {{2, 2, 1}, 8, mixed, 0.9, {.pre = 3, .post = 4}, 8},  // no room for a layer more than half sweeps
        {{3, 2, 1}, 16, dirichlet, 0.9, {.pre = 2, .post = 2}, 4, 2},
        {{1, 1, 1}, 8, periodic, 0.0, {.pre = 2, .post = 1, .interpolation = Interpolation::linear}, 4, 2},
        {{4, 4, 1}, 8, neumann, 0.0, {.cycle = Cycle::f, .pre = 1, .post = 2, .relaxation = 1.3}, 8, 2},
        // Several passes a leg, the last of them of fewer half sweeps, or of black ones first.
        {{2, 2, 2}, 8, mixed, 0.9, {.fused_half_sweeps = 2}, 4},
        {{2, 3, 1}, 16, periodic, 0.9, {.fused_half_sweeps = 3}, 4},
        {{3, 1, 2}, 8, neumann, 0.0, {.pre = 3, .post = 2, .fused_half_sweeps = 4, .relaxation = 1.3}, 8},
        {{1, 1, 1}, 16, dirichlet, 0.9, {.cycle = Cycle::f, .pre = 1, .post = 3, .fused_half_sweeps = 1}, 4},
        {{4, 2, 1}, 8, mixed, 0.9, {.pre = 0, .post = 2, .fused_half_sweeps = 3}, 4, 2},
    };
    for (const auto& [boxes, width, boundaries, a, multigrid, narrowest, dimensions] : variants) {
        CAPTURE(boxes, width, a, dimensions);
        const Problem problem = varying(boxes, width, boundaries, a, dimensions);
        const HierarchyOptions options{.bottom_box = 2, .all_ghosts = true, .deterministic = true};
        const BottomOptions bottom{.max_iterations = 20};
        const int half_sweeps = fusible_half_sweeps(multigrid);

        HierarchyOptions overlapped = options;  // boxes of 16 have an interior beside so many layers
        overlapped.exchange.overlap = width == 16;
        Setup plain(problem, options);
        Setup fused(problem, fusing(half_sweeps, narrowest, overlapped));
        for (Setup* setup : {&plain, &fused})
            if (setup->hierarchy.singular()) make_solvable(setup->finest());
        const SolveReport expected = Multigrid(plain.hierarchy, multigrid, bottom).solve();
        const long before = fused.finest().deep_ghosts->count();
        const long plain_before = fused.finest().ghosts->count();
        const SolveReport found = Multigrid(fused.hierarchy, multigrid, bottom).solve();
        CHECK(expected.converged());
        CHECK(found.residuals == expected.residuals);
        CHECK(solution(fused) == solution(plain));

        // f once and u before each pass but the first of a V-cycle, which starts from zero; a preconditioner
        // starts anew.
        const auto passes = [&](int sweeps) { return (2 * sweeps + half_sweeps - 1) / half_sweeps; };
        const bool from_zero = multigrid.cycle == Cycle::v && multigrid.pre > 0;
        const bool anew = multigrid.accelerator != Accelerator::none;
        CHECK(fused.finest().deep_ghosts->count() - before ==
              1 + found.cycles * (passes(multigrid.pre) + passes(multigrid.post)) -
                  (from_zero && !anew ? 1 : 0));
        // And no exchange else, where both legs end with their residual; full multigrid is followed by a test
        // of its own.
        const bool in_pass = fused.finest().ends_in_pass();
        CHECK(in_pass == (width > half_sweeps));
        const bool told = in_pass && multigrid.post > 0 && !fused.hierarchy.singular();
        const int restricted = in_pass && multigrid.pre > 0 ? 0 : 1;
        if (!anew)
            CHECK(fused.finest().ghosts->count() - plain_before ==
                  found.cycles * (restricted + (told ? 0 : 1)) +
                      (told && multigrid.cycle == Cycle::f ? 1 : 0));
    }
}

TEST_CASE("a fused V-cycle preconditions as the plain one does") {
    const Problem problem{
        .boxes = {2, 2, 2}, .width = 8, .boundaries = mixed, .beta = "smooth10", .exactly_periodic = true};
    const HierarchyOptions options{.bottom_box = 2, .deterministic = true};
    const MultigridOptions multigrid{.pre = 2, .post = 2};
    std::vector<std::vector<double>> results;
    for (const int half_sweeps : {0, fusible_half_sweeps(multigrid)}) {
        Setup setup(problem, fusing(half_sweeps, 4, options));
        Level& finest = setup.finest();
        VCycle M(setup.hierarchy, multigrid, 4);
        const Field z = finest.plain->make_field();
        for (int n = 0; n < 2; ++n) {  // the second does not start from what the first has left
            finest.plain->fill(z, 3.0);
            M.apply(z, finest.f);
        }
        results.push_back(finest.plain->read(z, cube(problem.width)));
    }
    CHECK(results[0] == results[1]);
}
