// Algebraic multigrid without golden data: schemes do not change it, its cycle is symmetric, and what cannot
// be set up has a name.

#include <catch2/catch.hpp>

#include <limits>

#include "solvers/amg/setup/products.hpp"
#include "solvers/amg/setup/strength.hpp"
#include "solvers/systems/sparse/sparse_system.hpp"
#include "tests/solvers/amg/amg_problem.hpp"

using namespace keel;
using namespace keel::test;

namespace {

Coarsening coarsened(AmgSetup& setup, const AmgOptions& options) {
    const PartRows A = setup.part();
    auto next = coarsen(setup.context, A, setup.near_null, options, setup.scheme, setup.ledger, 0);
    REQUIRE(next.has_value());
    return std::move(*next);
}

AmgProblem with_entry(const AmgProblem& problem, std::int64_t row, std::int64_t column, double value) {
    return {problem.rows, [=](std::int64_t number) {
                Row entries = problem.row(number);
                if (number == row) entries[column] = value;
                return entries;
            }};
}

AmgOutcome outcome_of(const AmgProblem& problem, const AmgOptions& options = {}) {
    AmgSetup setup(problem);
    AmgHierarchy hierarchy = setup.hierarchy(options);
    CHECK((hierarchy.outcome() == AmgOutcome::ready) == hierarchy.missing().empty());
    AmgCycle M(hierarchy);
    for (const bool by_cg : {false, true}) {
        const Report report = setup.solve(M, by_cg, 60);
        if (hierarchy.outcome() == AmgOutcome::ready) continue;
        CHECK(report.outcome == Outcome::breakdown);
        CHECK(report.vanished == hierarchy.missing());
        CHECK(!report.succeeded());
        CHECK(report.iterations == 0);
    }
    return hierarchy.outcome();
}

}  // namespace

TEST_CASE("the tentative prolongation is orthonormal, level after level") {
    for (const AmgProblem& problem : {stencil7({7, 6, 5}), elasticity({13, 11, 1})}) {
        AmgSetup setup(problem);
        PartRows A = setup.part();
        NearNull B = setup.near_null;
        for (int level = 0; level < 2; ++level) {
            const PartRows nodes = nodes_of(A, B.node);
            GhostValues ghosts(setup.context, nodes, setup.scheme);
            const auto strong = strong_connections(nodes, ghosts, 0.0);
            const Aggregates aggregates = aggregate_mis2(setup.comm, nodes, strong, ghosts);
            const Tentative T = tentative_prolongation(setup.context, aggregates, A.rank, B);
            const RowPartition coarse = resized(aggregates.partition, 1, B.vectors);
            double wrong = 0;
            std::map<std::pair<std::int64_t, std::int64_t>, double> gram;
            for (const Row& row : gathered(setup.comm, PartRows(A.partition, coarse, A.rank, T.rows)))
                for (const auto& [i, a] : row)
                    for (const auto& [j, b] : row) gram[{i, j}] += a * b;
            for (const auto& [at, product] : gram)
                wrong += !(std::abs(product - (at.first == at.second ? 1 : 0)) < 1e-14);
            CHECK(setup.comm.sum(wrong) == 0);
            auto next = coarsen(setup.context, A, B, {}, setup.scheme, setup.ledger, 0);
            REQUIRE(next.has_value());
            A = std::move(next->A);
            B = std::move(next->null);
        }
    }
}

TEST_CASE("no scheme changes a bit of P, nor of P e; P^T r is its transpose") {
    std::vector<Row> of_standard;
    std::vector<double> interpolated;
    for (const Scheme scheme : {Scheme::standard, Scheme::two_step, Scheme::three_step, Scheme::split}) {
        AmgSetup setup(stencil27({7, 6, 5}), scheme);
        const Coarsening next = coarsened(setup, {});
        const std::vector<Row> P = gathered(setup.comm, next.P);
        if (of_standard.empty()) of_standard = P;
        CHECK(P == of_standard);

        SparseMatrix coarse(setup.comm, setup.topology, *setup.backend, next.A.partition, next.A.rows,
                            setup.sparse(), setup.ledger);
        LevelTransfer transfer(setup.context, next.P, next.plan, next.way, setup.matrix.untimed(),
                               coarse.untimed(), {}, setup.ledger, 0);
        const Field e = coarse.make_vector();
        const Field b = coarse.make_vector();
        const Field x = setup.matrix.make_vector();
        const Field r = setup.matrix.make_vector();
        const auto of_coarse = [](std::int64_t row) {
            return std::sin(1.3 * static_cast<double>(row) + 0.2);
        };
        const auto of_fine = [](std::int64_t row) { return std::cos(0.7 * static_cast<double>(row) - 0.4); };
        coarse.assign(e, of_coarse);
        setup.matrix.assign(r, of_fine);
        for (int repeat = 0; repeat < 2; ++repeat) {  // values left by the first time do no harm
            transfer.interpolate(x, e);
            transfer.restrict_to(b, r);
        }
        std::vector<double> wanted(coarse.rows(), 0.0);
        double wrong = 0;
        for (std::size_t i = 0; i < P.size(); ++i)
            for (const auto& [j, value] : P[i])
                if (next.A.partition.owns(setup.comm.rank(), j))
                    wanted[static_cast<std::size_t>(j - coarse.first_row())] +=
                        value * of_fine(static_cast<std::int64_t>(i));
        const std::vector<double> restricted = coarse.read(b);
        for (std::size_t j = 0; j < wanted.size(); ++j) wrong += std::abs(restricted[j] - wanted[j]) > 1e-13;
        const std::vector<double> values = setup.matrix.read(x);
        for (std::size_t n = 0; n < values.size(); ++n) {
            double sum = 0;
            for (const auto& [j, value] : P[static_cast<std::size_t>(setup.matrix.first_row()) + n])
                sum += value * of_coarse(j);
            wrong += std::abs(values[n] - sum) > 1e-14;
        }
        CHECK(setup.comm.sum(wrong) == 0);
        if (interpolated.empty()) interpolated = values;
        CHECK(values == interpolated);
    }
}

TEST_CASE("the cycle is symmetric with every smoother, by every scheme") {
    for (const Scheme scheme : {Scheme::standard, Scheme::three_step})
        for (const AmgSmoother smoother : values_of<AmgSmoother>()) {
            AmgSetup setup(ball({9, 8, 7}, 50.0, true, 1.0), scheme);
            AmgOptions options;
            options.smoother = smoother;
            options.max_coarse = 10;
            AmgHierarchy hierarchy = setup.hierarchy(options);
            REQUIRE(hierarchy.levels() > 2);
            AmgCycle M(hierarchy);
            SparseSystem A(setup.matrix, DiagonalScaling::none);
            const Field u = A.make_vector(), v = A.make_vector(), Mu = A.make_vector(), Mv = A.make_vector();
            setup.matrix.assign(u,
                                [](std::int64_t row) { return uniform(3, static_cast<std::uint64_t>(row)); });
            setup.matrix.assign(v,
                                [](std::int64_t row) { return uniform(4, static_cast<std::uint64_t>(row)); });
            M.apply(Mu, u);
            M.apply(Mv, v);
            CHECK(std::abs(A.dot(Mu, v) - A.dot(u, Mv)) <= 1e-13 * std::sqrt(A.dot(Mu, Mu) * A.dot(v, v)));
        }
}

TEST_CASE("work while messages are in flight changes no bit of a cycle and no message, by any scheme") {
    for (const Scheme scheme : {Scheme::standard, Scheme::two_step, Scheme::three_step, Scheme::split})
        for (const AmgSmoother smoother : values_of<AmgSmoother>()) {
            std::vector<std::vector<double>> cycles;
            std::vector<Traffic> sent;
            for (const bool overlap : {false, true}) {
                AmgSetup setup(stencil27({9, 8, 7}), scheme, 2, Communicator::world(), overlap);
                AmgOptions options;
                options.smoother = smoother;
                options.max_coarse = 10;
                AmgHierarchy hierarchy = setup.hierarchy(options);
                AmgCycle M(hierarchy);
                setup.ledger.clear();
                const Field z = setup.matrix.make_vector();
                M.apply(z, setup.right_side());
                cycles.push_back(setup.matrix.read(z));
                Traffic& all = sent.emplace_back();
                for (int level = 0; level < setup.ledger.levels(); ++level)
                    all += setup.ledger.at(Op::send, level).traffic;
            }
            CAPTURE(static_cast<int>(scheme), name(smoother));
            CHECK(cycles[0] == cycles[1]);
            CHECK(sent[0] == sent[1]);
        }
}

TEST_CASE("what cannot be set up has a name, and a solve with it is a breakdown") {
    const AmgProblem good = stencil7({6, 5, 4});
    AmgOptions options;
    CHECK(outcome_of(good) == AmgOutcome::ready);
    CHECK(outcome_of(with_entry(good, 17, 17, 0.0)) == AmgOutcome::zero_diagonal);
    CHECK(outcome_of(with_entry(good, 50, 50, std::numeric_limits<double>::quiet_NaN())) ==
          AmgOutcome::not_finite);
    CHECK(outcome_of(with_entry(good, 3, 4, std::numeric_limits<double>::infinity())) ==
          AmgOutcome::not_finite);
    CHECK(outcome_of(with_entry(good, 0, 119, 1e-3)) == AmgOutcome::unsymmetric_pattern);
    // A Laplacian without walls: constants are in its null space.
    const AmgProblem singular = ball({4, 4, 4}, 1.0, true, 0.0);
    for (const std::int64_t rows : {1, 10, 64}) {
        options.max_coarse = rows;
        CHECK(outcome_of(singular, options) == AmgOutcome::singular);
    }
    options.max_coarse = 10;
    CHECK(outcome_of(ball({4, 4, 4}, 1e6, true, 1e-3), options) == AmgOutcome::ready);
    // No connection of 7 points is strong by a quarter of the diagonal: nothing coarsens.
    options.theta = 0.25;
    CHECK(outcome_of(good, options) == AmgOutcome::ready);
    AmgSetup setup(good);
    CHECK(setup.hierarchy(options).stalled());
    options.max_dense = 119;
    CHECK(outcome_of(good, options) == AmgOutcome::too_large);
}

TEST_CASE("ranks without rows take part: a matrix of three rows, and coarse levels of few") {
    CHECK(outcome_of(stencil5({3, 1, 1})) == AmgOutcome::ready);
    AmgOptions options;
    options.max_coarse = 1;
    for (const Ownership ownership : {Ownership::root, Ownership::condensed}) {
        options.ownership = ownership;
        for (const Scheme scheme : {Scheme::standard, Scheme::two_step, Scheme::three_step}) {
            AmgSetup setup(stencil5({9, 4, 1}), scheme);
            AmgHierarchy hierarchy = setup.hierarchy(options);
            REQUIRE(hierarchy.missing().empty());
            CHECK(hierarchy.facts().back().rows <= 2);
            if (ownership == Ownership::condensed) CHECK(hierarchy.facts().back().ranks_with_rows == 1);
            AmgCycle M(hierarchy);
            CHECK(setup.solve(M, true, 50).succeeded());
        }
    }
}

TEST_CASE("what a hierarchy says it sends is what a cycle sends") {
    AmgSetup setup(stencil27({8, 8, 8}), Scheme::three_step);
    AmgOptions options;
    options.max_coarse = 5;
    AmgHierarchy hierarchy = setup.hierarchy(options);
    REQUIRE(hierarchy.levels() >= 3);
    AmgCycle M(hierarchy);
    SparseSystem A(setup.matrix, DiagonalScaling::none);
    const Field z = A.make_vector();
    const Field r = setup.right_side();
    setup.ledger.clear();
    M.apply(z, r);
    for (std::size_t l = 0; l < hierarchy.levels(); ++l) {
        const AmgLevelFacts& facts = hierarchy.facts()[l];
        Traffic expected;
        if (l + 1 < hierarchy.levels()) {
            expected += facts.product;  // the residual
            expected += facts.product;  // the second sweep
            expected += facts.interpolate;
            expected += facts.restrict_;
        }
        CHECK(setup.ledger.at(Op::send, static_cast<int>(l)).traffic == expected);
    }
}
