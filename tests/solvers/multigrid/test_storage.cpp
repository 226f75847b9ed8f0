// How boxes lie in memory is no part of the mathematics: in blocks, where neighbours share their ghosts,
// every cycle and every bottom solve is the same to the last bit.

#include <catch2/catch.hpp>

#include "solvers/multigrid/multigrid.hpp"
#include "tests/solvers/golden_problem.hpp"

using namespace keel;
using namespace keel::test;

namespace {

struct StoredCase {
    Index boxes;
    int width;
    Boundaries boundaries;
    double a = 0.9;
    HierarchyOptions hierarchy{};
    MultigridOptions multigrid{};
    BottomOptions bottom{.max_iterations = 30};
    Placement placement = Placement::curve;
};

}  // namespace

TEST_CASE("boxes in blocks are solved to the same bits") {
    const BottomOptions powers{
        .solver = "ca_bicgstab", .max_iterations = 30, .s = 2, .powers = Powers::matrix_powers};
    // Cuboids of boxes and, on 3 ranks or scattered, boxes that fill none; overlap, all 26 neighbours, deep
    // ghosts, staged axes, bottom grids that are elsewhere; ghosts outside the domain.
    const std::vector<StoredCase> variants{
        {.boxes = {2, 2, 2}, .width = 8, .boundaries = mixed},
        {.boxes = {4, 2, 1},
         .width = 8,
         .boundaries = periodic,
         .hierarchy = {.neighbours = Neighbours::all, .exchange = {.overlap = true}}},
        {.boxes = {3, 2, 2},
         .width = 8,
         .boundaries = dirichlet,
         .hierarchy = {.all_ghosts = true},
         .multigrid = {.cycle = Cycle::f, .smoother = "chebyshev", .interpolation = Interpolation::linear},
         .placement = Placement::scattered},
        {.boxes = {2, 2, 2}, .width = 8, .boundaries = periodic, .hierarchy = {.fused = 4, .fused_width = 4}},
        {.boxes = {2, 3, 2},
         .width = 16,
         .boundaries = neumann,
         .a = 0.0,
         .hierarchy = {.all_ghosts = true, .fused = 6, .fused_width = 8},
         .multigrid = {.pre = 1, .post = 3, .interpolation = Interpolation::linear}},
        {.boxes = {2, 2, 2},
         .width = 8,
         .boundaries = periodic,
         .hierarchy = {.bottom_ghosts = 4, .scheme = {.scheme = Scheme::staged_axes}},
         .bottom = powers},
        {.boxes = {2, 2, 2},
         .width = 8,
         .boundaries = mixed,
         .hierarchy = {.bottom_grid = 2, .bottom_ghosts = 4},
         .bottom = powers},
        {.boxes = {2, 2, 2}, .width = 8, .boundaries = mixed, .hierarchy = {.bottom_grid = BottomRanks::all}},
    };
    for (const StoredCase& variant : variants) {
        CAPTURE(variant.boxes, variant.width, variant.hierarchy.bottom_grid);
        const Problem problem = varying(variant.boxes, variant.width, variant.boundaries, variant.a);
        std::vector<std::vector<double>> residuals, solutions;
        std::vector<int> iterations;
        for (const Storage storage : {Storage::boxes, Storage::blocks}) {
            HierarchyOptions options = variant.hierarchy;
            options.bottom_box = 4;
            options.storage = storage;
            options.deterministic = true;  // one launch of a device would sum in the order of its cells
            Setup setup(problem, options, Communicator::world(), variant.placement);
            const SolveReport report = Multigrid(setup.hierarchy, variant.multigrid, variant.bottom).solve();
            CHECK(report.converged());
            residuals.push_back(report.residuals);
            iterations.push_back(report.bottom_iterations());
            solutions.push_back(setup.finest().plain->read(setup.finest().u, cube(problem.width)));
        }
        CHECK(residuals[0] == residuals[1]);
        CHECK(iterations[0] == iterations[1]);
        CHECK(solutions[0] == solutions[1]);
    }
}
