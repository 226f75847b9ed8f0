// Interpolation by quartics and tau-extrapolation, in the library: orders at every boundary, in boxes of any
// number of ranks. Runs with them are in tests/executable/test_full_multigrid.py.

#include <catch2/catch.hpp>

#include "solvers/multigrid/multigrid.hpp"
#include "tests/solvers/golden_problem.hpp"

using namespace keel;
using namespace keel::test;

namespace {

// The mean over a cell of a wave whose parity on boundaries is that of the ghosts there, as a difference of
// the antiderivative.
double mean_of_factor(Boundary boundary, double first, double size) {
    const double k = boundary == Boundary::periodic ? two_pi : two_pi / 2;
    const auto antiderivative = [&](double x) {
        return boundary == Boundary::dirichlet ? -std::cos(k * x) / k
               : boundary == Boundary::neumann ? std::sin(k * x) / k
                                               : std::sin(k * x + 1) / k;
    };
    return (antiderivative(first + size) - antiderivative(first)) / size;
}

Formula means(const Problem& problem, int ratio) {
    return [problem, ratio](const Index& cell) {
        double mean = 1;
        for (std::size_t d = 0; d < problem.directions(); ++d) {
            const double size = static_cast<double>(ratio) / problem.cells()[d];
            mean *= mean_of_factor(problem.boundaries[d].low, size * cell[d], size);
        }
        return mean;
    };
}

// The largest error of the finest level's means, interpolated from those of the next coarser one, wherever
// that is.
double interpolation_error(const Problem& problem, HierarchyOptions options) {
    options.all_ghosts = true;
    options.interpolated_ghosts = 2;
    Setup setup(problem, options);
    Level& fine = setup.finest();
    if (setup.hierarchy.has(1)) {
        Level& coarse = setup.hierarchy.level(1);
        coarse.plain->assign(coarse.u, coarse.layout.box_cells(), means(problem, 2));
    }
    if (LevelRedistribution* const moved = setup.hierarchy.redistribution(1)) moved->scatter_correction();
    interpolate_add(fine, setup.hierarchy.below(0), Interpolation::quartic);
    setup.set(fine.f, means(problem, 1));
    fine.plain->axpby(fine.u, 1, fine.u, -1, fine.f);
    return setup.agreed(max_norm(setup.gather(fine.u)));
}

}  // namespace

TEST_CASE(
    "quartic interpolation between levels has order 5 at every boundary, wherever boxes and levels are") {
    const HierarchyOptions apart{}, blocks{.storage = Storage::blocks}, merged{.agglomerate = 100'000};
    for (const Boundaries& boundaries : {periodic, dirichlet, neumann, mixed})
        for (const int dimensions : {2, 3})
            for (const int along_x : {2, 3})
                for (const HierarchyOptions& options : {apart, blocks, merged}) {
                    Problem problem{.boxes = {along_x, 2, dimensions == 2 ? 1 : 2},
                                    .boundaries = boundaries,
                                    .dimensions = dimensions};
                    const bool merges = can_merge(problem.boxes, problem.directions());
                    if (!enough_boxes(problem.boxes) || (options.agglomerate > 0 && !merges)) continue;
                    problem.width = 8;
                    const double coarse = interpolation_error(problem, options);
                    problem.width = 16;
                    const double fine = interpolation_error(problem, options);
                    CAPTURE(dimensions, along_x, options.agglomerate, coarse, fine);
                    const double order = std::log2(coarse / fine);
                    CHECK(order > 4.5);
                    CHECK(order < 6.2);
                }
}

TEST_CASE("an extrapolated F-cycle is the same whoever owns the boxes, stored and smoothed as they may be") {
    const Problem problem{.boxes = {2, 2, 2},
                          .width = 16,
                          .boundaries = mixed,
                          .beta = "smooth10",
                          .alpha = "wave",
                          .exactly_periodic = true};
    MultigridOptions multigrid;
    multigrid.tau_extrapolation = true;
    const auto solution = [&](HierarchyOptions options, const Communicator& ranks) {
        options.all_ghosts = true;
        options.interpolated_ghosts = 2;
        options.deterministic = true;
        multigrid.bottom_box = options.bottom_box;
        Setup setup(problem, options, ranks);
        Multigrid(setup.hierarchy, multigrid, {}).full_cycle();
        const Whole u = setup.gather(setup.finest().u);
        return setup.comm.rank() == 0 ? u.values : std::vector<double>();
    };
    const bool first = Communicator::world().rank() == 0;
    const auto expect = [&](const HierarchyOptions& options, const std::vector<double>& alone) {
        const std::vector<double> together = solution(options, Communicator::world());
        if (first) CHECK(together == alone);
    };
    const std::vector<double> alone = solution({.bottom_box = 2}, Communicator::self());
    expect({.bottom_box = 2}, alone);
    expect({.bottom_box = 2, .storage = Storage::blocks}, alone);
    expect({.bottom_box = 2, .fused = 4, .fused_width = 4}, alone);
    const HierarchyOptions merged{.bottom_box = 4, .agglomerate = 100'000};
    expect(merged, solution(merged, Communicator::self()));
}

TEST_CASE("extrapolation leaves the exact solution of the two operators alone") {
    // L of a constant is a alpha times that on all levels: tau is 0, and so is all that a cycle finds.
    const Problem problem{.boxes = {2, 1, 2}, .width = 8, .boundaries = neumann};
    Setup setup(problem, {.bottom_box = 2, .all_ghosts = true, .interpolated_ghosts = 2});
    setup.set_f([&](const Index&) { return problem.a; });
    MultigridOptions multigrid;
    multigrid.bottom_box = 2;
    multigrid.tau_extrapolation = true;
    BottomOptions bottom;
    bottom.tolerance = 1e-12;
    Multigrid(setup.hierarchy, multigrid, bottom).full_cycle();
    Level& fine = setup.finest();
    fine.plain->shift(fine.u, -1);
    CHECK(setup.agreed(max_norm(setup.gather(fine.u))) < 1e-10);
}
