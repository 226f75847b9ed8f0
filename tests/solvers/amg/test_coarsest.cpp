// The coarsest level by dense factors on each rank or on one, and by conjugate gradients.

#include <catch2/catch.hpp>

#include "solvers/amg/coarsest/krylov.hpp"
#include "tests/solvers/amg/amg_problem.hpp"

using namespace keel;
using namespace keel::test;

namespace {

// Levels whose coarsest still has many rows.
AmgOptions large_coarsest(CoarsestRule rule) {
    AmgOptions options;
    options.max_coarse = 100;
    options.coarsest = rule;
    return options;
}

std::vector<double> solution_of(AmgSetup& setup, AmgHierarchy& hierarchy) {
    AmgLevel& level = hierarchy.level(hierarchy.levels() - 1);
    level.A->assign(level.b, [](std::int64_t row) { return uniform(5, static_cast<std::uint64_t>(row)); });
    hierarchy.coarsest().solve(level.x, level.b);
    std::vector<int> counts;
    for (int rank = 0; rank < setup.comm.size(); ++rank)
        counts.push_back(static_cast<int>(level.A->partition().size(rank)));
    return setup.comm.all_gather(level.A->read(level.x), counts);
}

}  // namespace

TEST_CASE("factors on one rank give the solution of factors on each, bit by bit, for two collectives") {
    for (const Ownership ownership : {Ownership::root, Ownership::condensed}) {
        AmgSetup setup(stencil7({12, 11, 10}));
        std::vector<std::vector<double>> solutions;
        for (const CoarsestRule rule : {CoarsestRule::replicated, CoarsestRule::gathered}) {
            AmgOptions options = large_coarsest(rule);
            options.ownership = ownership;
            AmgHierarchy hierarchy = setup.hierarchy(options);
            REQUIRE(hierarchy.missing().empty());
            solutions.push_back(solution_of(setup, hierarchy));
            const AmgLevelFacts& facts = hierarchy.facts().back();
            const bool alone = facts.ranks_with_rows == 1;
            const bool on_one = rule == CoarsestRule::gathered;
            const auto words = static_cast<double>(facts.rows * (on_one ? 2 : facts.ranks_with_rows));
            const Entry& visit = setup.ledger.at(Op::coarsest, static_cast<int>(hierarchy.levels()) - 1);
            CHECK(setup.comm.sum(static_cast<double>(visit.words)) == (alone ? 0 : words));
            const double holders = setup.comm.sum(visit.work.flops > 0 ? 1.0 : 0.0);
            setup.ledger.clear();
            CHECK(holders == (on_one ? 1 : facts.ranks_with_rows));
        }
        CHECK(solutions[0] == solutions[1]);
    }
}

TEST_CASE("conjugate gradients solve on the coarsest level, and cycles then converge as with factors") {
    AmgSetup setup(stencil7({12, 11, 10}));
    AmgHierarchy exact = setup.hierarchy(large_coarsest(CoarsestRule::replicated));
    const std::vector<double> wanted = solution_of(setup, exact);
    double size = 0;
    for (const double value : wanted) size = std::max(size, std::abs(value));
    AmgCycle by_factors(exact);
    const int cycles = setup.solve(by_factors, false, 60).iterations;
    AmgHierarchy hierarchy = setup.hierarchy(large_coarsest(CoarsestRule::krylov));
    REQUIRE(hierarchy.missing().empty());
    CHECK(hierarchy.varies());
    const std::vector<double> found = solution_of(setup, hierarchy);
    double error = 0;
    for (std::size_t n = 0; n < found.size(); ++n) error = std::max(error, std::abs(found[n] - wanted[n]));
    CHECK(error < 1e-2 * size);
    AmgCycle M(hierarchy);
    const Report report = setup.solve(M, false, 60);
    CHECK(report.succeeded());
    CHECK(std::abs(report.iterations - cycles) <= 1);
    const double visits = setup.comm.max(static_cast<double>(hierarchy.coarsest().visits().visits));
    CHECK(visits == report.iterations + 1);
}

TEST_CASE("flexible conjugate gradients take a cycle that varies, other methods none") {
    AmgSetup setup(rotated({30, 26, 1}, 0.001, 0.4));
    AmgOptions options;
    options.theta = 0.25;
    options.max_coarse = 300;
    AmgHierarchy exact = setup.hierarchy(options);
    REQUIRE(exact.facts().back().rows > 100);
    AmgCycle fixed(exact);
    const Report by_factors = setup.solve(fixed, true, 300);
    REQUIRE(by_factors.succeeded());
    options.coarsest = CoarsestRule::krylov;
    options.max_dense = 1;  // limits only what is factorised
    AmgHierarchy hierarchy = setup.hierarchy(options);
    AmgCycle M(hierarchy);
    CHECK(M.varies());
    const Report report = setup.solve(M, true, 300);
    CHECK(report.succeeded());
    CHECK(report.iterations <= by_factors.iterations + 2);
    CHECK(hierarchy.coarsest().visits().missed == 0);
    BottomOptions other;
    other.solver = "bicgstab";
    other.scaling = Scaling::none;
    CHECK_THROWS_AS(make_krylov(setup.matrix, other, M), std::invalid_argument);
    CHECK_FALSE(fixed.varies());
}

TEST_CASE("a coarsest level with constants in its null space is solved without them by a Krylov method") {
    AmgSetup setup(ball({6, 6, 6}, 10.0, true, 0.0));
    for (const std::int64_t most : {100, 1}) {
        AmgOptions options = large_coarsest(CoarsestRule::krylov);
        options.max_coarse = most;
        options.ownership = Ownership::root;  // several ranks have rows
        AmgHierarchy hierarchy(setup.context, setup.matrix, setup.rows, options, setup.sparse(), setup.ledger,
                               {.watch = {}, .singular = true});
        REQUIRE(hierarchy.missing().empty());
        // One row is factorised, as there is no method for it.
        const bool one = hierarchy.facts().back().rows == 1;
        CHECK(hierarchy.varies() == !one);
        if (!one) {  // a right-hand side with a constant part, which has no solution
            solution_of(setup, hierarchy);
            CHECK(hierarchy.coarsest().visits().missed == 0);
        }
        AmgCycle M(hierarchy);
        BottomOptions by_cg;
        by_cg.solver = "cg";
        by_cg.scaling = Scaling::none;
        by_cg.tolerance = 1e-8;
        const Field f = setup.matrix.make_vector();
        const Field x = setup.matrix.make_vector();
        setup.matrix.assign(x, [](std::int64_t row) { return uniform(1, static_cast<std::uint64_t>(row)); });
        setup.matrix.apply(std::span(&f, 1), setup.matrix.plain(), std::span(&x, 1));
        CHECK(make_krylov(setup.matrix, by_cg, M)->solve(x, f).succeeded());
    }
}

TEST_CASE("a coarsest level of one row gives way to factors") {
    const AmgOptions by_cg = large_coarsest(CoarsestRule::krylov);
    CHECK(coarsest_rule(by_cg, 1) == CoarsestRule::replicated);
    CHECK(coarsest_rule(by_cg, 2) == CoarsestRule::krylov);
    CHECK(coarsest_rule(large_coarsest(CoarsestRule::gathered), 2) == CoarsestRule::gathered);
}
