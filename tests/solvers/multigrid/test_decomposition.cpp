// The same problem on the same boxes gives the same history whoever owns them, however ghosts travel.

#include <catch2/catch.hpp>

#include "solvers/multigrid/multigrid.hpp"
#include "tests/solvers/golden_problem.hpp"

using namespace keel;
using namespace keel::test;

namespace {

struct Chosen {
    MultigridOptions multigrid;
    BottomOptions bottom;
};

// The whole history: residuals of the cycle and of every visit of the bottom.
std::vector<double> history(Setup& setup, const Chosen& chosen) {
    const SolveReport report = Multigrid(setup.hierarchy, chosen.multigrid, chosen.bottom).solve();
    // Relaxation alone hardly touches the mean of a periodic bottom: there a limited number of cycles will
    // do.
    CHECK((report.converged() || chosen.bottom.solver == "smooth"));
    std::vector<double> all = report.residuals;
    for (const auto& visit : report.visits) {
        all.push_back(visit.iterations);
        if (visit.tested()) all.push_back(visit.true_residual);
    }
    return all;
}

std::vector<Chosen> variants() {
    std::vector<Chosen> all(4);
    all[1].multigrid.smoother = "chebyshev";
    all[1].bottom.solver = "cg";
    all[2].multigrid.cycle = Cycle::f;
    all[2].multigrid.interpolation = Interpolation::linear;
    all[2].multigrid.smoother = "jacobi";
    all[2].bottom.solver = "bicgstab_fused";
    all[3].bottom.solver = "smooth";
    all[3].multigrid.max_cycles = 10;
    for (Chosen& one : all) one.multigrid.bottom_box = 4;
    return all;
}

}  // namespace

TEST_CASE("deterministic histories are bitwise those of one rank, whatever the ranks and the placement") {
    for (const double a : {0.9, 0.0})
        for (const Chosen& chosen : variants()) {
            CAPTURE(a, chosen.bottom.solver);
            const Problem problem{
                .boxes = {2, 2, 2}, .width = 8, .a = a, .beta = "smooth10", .alpha = "wave"};
            const HierarchyOptions options{.bottom_box = 4, .all_ghosts = true, .deterministic = true};
            Setup alone(problem, options, Communicator::self());
            const std::vector<double> expected = history(alone, chosen);
            CHECK(expected.size() > 10);
            for (const auto placement :
                 {Placement::curve, Placement::lexicographic, Placement::round_robin, Placement::scattered}) {
                CAPTURE(static_cast<int>(placement));
                Setup together(problem, options, Communicator::world(), placement);
                CHECK(history(together, chosen) == expected);
            }
        }
}

TEST_CASE("solutions of a deterministic run are bitwise those of one rank") {
    const Problem problem{
        .boxes = {3, 2, 2}, .width = 8, .boundaries = mixed, .beta = "smooth10", .alpha = "wave"};
    const HierarchyOptions options{.bottom_box = 2, .deterministic = true};
    Setup alone(problem, options, Communicator::self());
    Setup together(problem, options);
    const Chosen chosen{{.bottom_box = 2}, {}};
    CHECK(history(alone, chosen) == history(together, chosen));
    const Whole u = alone.gather(alone.finest().u);
    const Layout& layout = together.finest().layout;
    const std::vector<double> mine =
        together.finest().plain->read(together.finest().u, cube(together.problem.width));
    std::size_t n = 0;
    std::size_t equal = 0;
    for (const int box : layout.local())
        for_each_index({8, 8, 8}, [&](const Index& cell) {
            equal += u(layout.first_cell(box) + cell) == mine[n] ? 1 : 0;
            ++n;
        });
    CHECK(n == layout.local_cells());
    CHECK(equal == n);
}

TEST_CASE("how ghosts travel changes no bit: deeper, from all neighbours") {
    const Problem problem{.boxes = {2, 2, 2}, .width = 8, .boundaries = mixed, .beta = "smooth10"};
    const Chosen chosen = variants()[2];
    Setup plain(problem, {.bottom_box = 4, .all_ghosts = true, .deterministic = true});
    const std::vector<double> expected = history(plain, chosen);
    for (const auto& [depth, neighbours] :
         {std::pair{2, Neighbours::faces}, {1, Neighbours::all}, {3, Neighbours::all}}) {
        CAPTURE(depth, static_cast<int>(neighbours));
        Setup other(problem, {.bottom_box = 4,
                              .ghost_depth = depth,
                              .neighbours = neighbours,
                              .all_ghosts = true,
                              .deterministic = true});
        CHECK(history(other, chosen) == expected);
    }
}

TEST_CASE("without deterministic sums histories agree to rounding") {
    // The bottom is solved tightly, so that one bottom iteration more or less is rounding, too.
    Chosen chosen;
    chosen.bottom.solver = "cg";
    chosen.bottom.tolerance = 1e-12;
    const Problem problem{.boxes = {2, 2, 2}, .width = 8, .beta = "smooth10", .alpha = "wave"};
    Setup alone(problem, {}, Communicator::self());
    Setup together(problem);
    const SolveReport one = Multigrid(alone.hierarchy, chosen.multigrid, chosen.bottom).solve();
    const SolveReport all = Multigrid(together.hierarchy, chosen.multigrid, chosen.bottom).solve();
    REQUIRE(one.residuals.size() == all.residuals.size());
    for (std::size_t k = 0; k < one.residuals.size(); ++k) {
        CAPTURE(k);
        CHECK(std::abs(one.residuals[k] - all.residuals[k]) < 1e-10 * one.residuals[k] + 1e-14);
    }
}
