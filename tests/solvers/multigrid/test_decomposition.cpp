// The same problem on the same boxes has the same history and solution, bit by bit, wherever the boxes are,
// however they lie in memory and however their ghosts travel.

#include <catch2/catch.hpp>
#include <cstdlib>
#include <functional>

#include "solvers/krylov/methods.hpp"
#include "solvers/multigrid/multigrid.hpp"
#include "tests/solvers/golden_problem.hpp"

using namespace keel;
using namespace keel::test;

namespace {

struct Deterministic {
    Problem problem;
    MultigridOptions multigrid = {};
    BottomOptions bottom = {};
    HierarchyOptions hierarchy = {};
};

// Periodic and Neumann with a = 0 are singular.
std::vector<Deterministic> deterministic_cases() {
    const Index boxes{4, 2, 2}, odd{2, 3, 2};
    constexpr auto linear = Interpolation::linear;
    BottomOptions powers{.solver = "ca_bicgstab", .s = 2};
    powers.powers = Powers::matrix_powers;
    const int layers = powers_need(powers, 4).layers;
    return {{varying(boxes, 8, mixed, 0.9)},
            {varying(boxes, 8, periodic, 0.0), {.smoother = "chebyshev"}, {.solver = "cg"}},
            {varying(odd, 8, dirichlet, 0.9),
             {.cycle = Cycle::f, .smoother = "jacobi", .interpolation = linear},
             {.solver = "bicgstab_fused"},
             {.all_ghosts = true}},
            {varying(boxes, 8, mixed, 0.9), {.max_cycles = 10}, {.solver = "smooth"}},
            {varying(boxes, 8, periodic, 0.9), {}, powers, {.bottom_ghosts = layers}},
            {varying(boxes, 8, mixed, 0.9), {}, {.solver = "enlarged_cg"}},
            {varying(boxes, 8, mixed, 0.9), {}, {.solver = "pipelined_cg"}, {.agglomerate = 1}},
            {varying(odd, 8, neumann, 0.0),
             {.pre = 1, .post = 3, .interpolation = linear},
             {.max_iterations = 30},
             {.all_ghosts = true, .fused = 6, .fused_width = 8}}};
}

struct Variation {
    const char* name;
    std::function<void(HierarchyOptions&)> change;
    Placement placement = Placement::curve;
};

std::vector<Variation> variations() {
    using O = HierarchyOptions;
    const auto stay = [](O&) {};
    const auto in_blocks = [](O& o) { o.storage = Storage::blocks; };
    const auto on = [](int ranks) { return [ranks](O& o) { o.bottom_grid = ranks; }; };
    const auto by = [](Scheme scheme) { return [scheme](O& o) { o.scheme.scheme = scheme; }; };
    return {{"on all ranks", stay},
            {"row by row", stay, Placement::lexicographic},
            {"in turns", stay, Placement::round_robin},
            {"anywhere", stay, Placement::scattered},
            {"in blocks", in_blocks},
            {"in blocks that are none", in_blocks, Placement::scattered},
            {"two ghost layers", [](O& o) { o.ghost_depth = 2; }},
            {"ghosts of all neighbours", [](O& o) { o.neighbours = Neighbours::all; }},
            {"work meanwhile", [](O& o) { o.exchange.overlap = true; }},
            {"three steps", by(Scheme::three_step)},
            {"axis by axis", by(Scheme::staged_axes)},
            {"bottom on two ranks", on(2)},
            {"bottom on one in eight", on(BottomRanks::one_in_eight)},
            {"bottom on one", on(BottomRanks::one)},
            {"bottom on each", on(BottomRanks::all)}};
}

struct Solution {
    std::vector<double> residuals;
    std::vector<double> bottoms;  // iterations and residuals, on rank 0, which always takes part
    std::vector<double> u;        // of all cells, on rank 0
};

Solution solved(const Deterministic& chosen, const HierarchyOptions& options, const Communicator& comm,
                Placement placement) {
    Setup setup(chosen.problem, options, comm, placement);
    const SolveReport report = Multigrid(setup.hierarchy, chosen.multigrid, chosen.bottom).solve();
    // Relaxation alone hardly touches the mean of a periodic bottom.
    CHECK((report.converged() || chosen.bottom.solver == "smooth"));
    Solution found{report.residuals, {}, setup.gather(setup.finest().u).values};
    for (const auto& visit : report.visits) {
        found.bottoms.push_back(visit.iterations);
        if (visit.tested()) found.bottoms.push_back(visit.true_residual);
    }
    return found;
}

}  // namespace

TEST_CASE(
    "where boxes are, how they are stored and how ghosts travel changes no bit of a deterministic solve") {
    // Each variation with a third of the cases, at night with all.
    const bool all = std::getenv("KEEL_NIGHTLY") != nullptr;
    std::size_t turn = 0;
    for (const Deterministic& chosen : deterministic_cases()) {
        HierarchyOptions options = chosen.hierarchy;
        options.deterministic = true;
        const Solution expected = solved(chosen, options, Communicator::self(), Placement::curve);
        CHECK(expected.residuals.size() > 4);
        std::size_t number = turn++;
        for (const auto& [how, change, placement] : variations()) {
            if (number++ % 3 != 0 && !all) continue;
            CAPTURE(how, chosen.bottom.solver, chosen.problem.width, chosen.problem.a);
            HierarchyOptions other = options;
            change(other);
            // Devices round otherwise where an interior is a kernel of its own.
            if (other.exchange.overlap && chosen_backend()->name() != "openmp") continue;
            const Solution found = solved(chosen, other, Communicator::world(), placement);
            CHECK(found.residuals == expected.residuals);
            if (Communicator::world().rank() != 0) continue;
            CHECK(found.bottoms == expected.bottoms);
            CHECK(found.u == expected.u);
        }
    }
}
