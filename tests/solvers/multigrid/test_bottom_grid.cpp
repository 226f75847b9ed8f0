// The bottom grid on other ranks than its boxes: the same solutions, with other messages.

#include <catch2/catch.hpp>

#include "solvers/krylov/methods.hpp"
#include "solvers/multigrid/multigrid.hpp"
#include "tests/solvers/golden_problem.hpp"

using namespace keel;
using namespace keel::test;

namespace {

constexpr int places[] = {BottomRanks::one_in_eight, BottomRanks::one, BottomRanks::all};

struct Solution {
    std::vector<double> residuals;
    std::vector<int> bottom_iterations;  // on rank 0, which always takes part
    std::vector<double> u;               // of the rank's boxes

    friend bool operator==(const Solution&, const Solution&) = default;
};

Solution solution_of(Setup& setup, const MultigridOptions& multigrid, const BottomOptions& bottom) {
    const SolveReport report = Multigrid(setup.hierarchy, multigrid, bottom).solve();
    Solution found{report.residuals, {}, {}};
    if (setup.comm.rank() == 0)
        for (const auto& visit : report.visits) found.bottom_iterations.push_back(visit.iterations);
    found.u = setup.finest().plain->read(setup.finest().u, cube(setup.problem.width));
    return found;
}

HierarchyOptions placed(int place, HierarchyOptions options = {}) {
    options.bottom_grid = place;
    options.deterministic = true;
    return options;
}

}  // namespace

TEST_CASE("where the bottom grid is solved on changes no bit of a deterministic run") {
    struct Variant {
        std::string solver;
        Boundaries boundaries;
        double a;
        Cycle cycle;
        std::int64_t agglomerate = 0;
    };
    // Periodic with a = 0 is singular.
    const Variant variants[] = {{"bicgstab", mixed, 0.9, Cycle::v}, {"cg", {}, 0.0, Cycle::v},
                                {"ca_cg", mixed, 0.9, Cycle::f},    {"enlarged_cg", mixed, 0.9, Cycle::v},
                                {"smooth", mixed, 0.9, Cycle::v},   {"bicgstab", mixed, 0.9, Cycle::v, 1}};
    for (const auto& [solver, boundaries, a, cycle, agglomerate] : variants) {
        CAPTURE(solver, agglomerate);
        const Problem problem{.boxes = {4, 2, 2},
                              .width = 8,
                              .boundaries = boundaries,
                              .a = a,
                              .beta = "smooth10",
                              .alpha = "wave"};
        MultigridOptions multigrid{.cycle = cycle, .bottom_box = 4, .max_cycles = 12};
        if (cycle == Cycle::f) multigrid.interpolation = Interpolation::linear;
        BottomOptions bottom;
        bottom.solver = solver;
        const HierarchyOptions plain{
            .bottom_box = 4, .agglomerate = agglomerate, .all_ghosts = cycle == Cycle::f};
        Setup spread(problem, placed(BottomRanks::owners, plain));
        const Solution expected = solution_of(spread, multigrid, bottom);
        CHECK(expected.residuals.back() < 1e-4);
        for (const int place : places) {
            CAPTURE(place);
            Setup moved(problem, placed(place, plain));
            CHECK(solution_of(moved, multigrid, bottom) == expected);
        }
    }
}

TEST_CASE("a bottom grid that moves has its powers' ghosts there") {
    const Problem problem{.boxes = {4, 2, 2}, .width = 8, .boundaries = mixed, .beta = "smooth10"};
    const MultigridOptions multigrid{.bottom_box = 4};
    BottomOptions bottom;
    bottom.solver = "ca_bicgstab";
    bottom.powers = Powers::matrix_powers;
    bottom.s = 2;
    const int layers = powers_need(bottom, 4).layers;
    Setup spread(problem, placed(BottomRanks::owners, {.bottom_box = 4, .bottom_ghosts = layers}));
    const Solution expected = solution_of(spread, multigrid, bottom);
    CHECK(expected.residuals.back() < 1e-9);
    for (const int place : places) {
        CAPTURE(place);
        Setup moved(problem, placed(place, {.bottom_box = 4, .bottom_ghosts = layers}));
        CHECK(solution_of(moved, multigrid, bottom) == expected);
    }
}

TEST_CASE("a bottom grid that is elsewhere sends what its plans say, and nothing else") {
    const Problem problem{.boxes = {4, 2, 2}, .width = 8, .boundaries = mixed, .beta = "smooth10"};
    for (const int place : {BottomRanks::one, BottomRanks::all})
        for (const Scheme scheme : {Scheme::standard, Scheme::two_step, Scheme::three_step, Scheme::split}) {
            CAPTURE(place, static_cast<int>(scheme));
            HierarchyOptions options{.bottom_box = 4};
            options.scheme.scheme = scheme;
            Setup setup(problem, placed(place, options));
            Multigrid multigrid(setup.hierarchy, {.bottom_box = 4}, {});
            setup.ledger.clear();
            const SolveReport report = multigrid.solve();
            const LevelRedistribution& moved = *setup.hierarchy.redistribution(1);
            Traffic expected;
            for (const Redistribution* one : {&moved.gather(), &moved.scatter()}) {
                const Traffic each = one->plan().traffic(setup.comm.rank(), setup.topology, 1);
                for (std::size_t n = 0; n < report.visits.size(); ++n) expected += each;
            }
            const Traffic counted = setup.ledger.at(Op::send, 1).traffic;
            CHECK(counted.messages == expected.messages);
            CHECK(counted.bytes == expected.bytes);
            CHECK(counted.off_node_messages == expected.off_node_messages);
            CHECK(counted.off_node_bytes == expected.off_node_bytes);
            CHECK(moved.runs() == static_cast<long>(2 * report.visits.size()));
            CHECK(setup.comm.sum(static_cast<double>(expected.messages)) > setup.comm.size() - 2);
        }
}
