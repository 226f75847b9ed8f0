// The bottom grid on other ranks than its boxes: its messages.

#include <catch2/catch.hpp>

#include "solvers/multigrid/multigrid.hpp"
#include "tests/solvers/golden_problem.hpp"

using namespace keel;
using namespace keel::test;

TEST_CASE("a bottom grid that is elsewhere sends what its plans say, and nothing else") {
    const Problem problem{.boxes = {4, 2, 2}, .width = 8, .boundaries = mixed, .beta = "smooth10"};
    for (const int place : {BottomRanks::one, BottomRanks::all})
        for (const Scheme scheme : {Scheme::standard, Scheme::two_step, Scheme::three_step, Scheme::split}) {
            CAPTURE(place, static_cast<int>(scheme));
            HierarchyOptions options{.bottom_box = 4, .bottom_grid = place};
            options.scheme.scheme = scheme;
            Setup setup(problem, options);
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
            CHECK(counted == expected);
            CHECK(moved.runs() == static_cast<long>(2 * report.visits.size()));
            CHECK(setup.comm.sum(static_cast<double>(expected.messages)) > setup.comm.size() - 2);
        }
}
