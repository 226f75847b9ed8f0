// Algebraic multigrid without golden data: identities of its set-up, that neither ranks nor
// schemes change it, a symmetric cycle, and the names of what cannot be set up.

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

TEST_CASE("roots are more than two strong connections apart, and every connected row is within two of one") {
    AmgSetup setup(rotated({17, 13, 1}, 0.01, 0.3));
    const PartRows A = setup.part();
    GhostValues ghosts(setup.context, A, setup.scheme);
    const auto strong = strong_connections(A, ghosts, 0.25);
    const Aggregates found = aggregate_mis2(setup.comm, A, strong, ghosts);
    CHECK(found.rounds > 1);
    GlobalRows pattern;
    for (std::size_t r = 0; r < A.rows.rows(); ++r) {
        for (auto [e, end] = entries_of(A.rows, r); e < end; ++e)
            if (strong[e]) {
                pattern.columns.push_back(A.rows.columns[e]);
                pattern.values.push_back(1.0);
            }
        end_row(pattern);
    }
    const std::vector<Row> S =
        gathered(setup.comm, PartRows(A.partition, A.partition, A.rank, std::move(pattern)));
    for (std::size_t i = 0; i < S.size(); ++i)
        for (const auto& [j, one] : S[i])
            CHECK(S[static_cast<std::size_t>(j)].contains(static_cast<std::int64_t>(i)));
    const std::vector<std::int64_t> roots = setup.comm.all_gather(found.roots);
    std::vector<int> roots_near(S.size(), 0);
    for (const std::int64_t root : roots) {
        std::map<std::int64_t, int> near{{root, 0}};
        for (const auto& [j, one] : S[static_cast<std::size_t>(root)]) {
            near[j] = 1;
            for (const auto& [k, other] : S[static_cast<std::size_t>(j)]) near.try_emplace(k, 2);
        }
        for (const auto& [row, distance] : near) {
            ++roots_near[static_cast<std::size_t>(row)];
            if (row != root) CHECK(!std::ranges::binary_search(roots, row));
        }
    }
    for (std::size_t i = 0; i < S.size(); ++i) CHECK((roots_near[i] > 0) == !S[i].empty());
}

TEST_CASE("Galerkin products are dense ones, entry by entry, and symmetric") {
    for (const CoarseningRule rule :
         {CoarseningRule::aggregation, CoarseningRule::aggregation_twice, CoarseningRule::pmis}) {
        AmgSetup setup(ball({6, 5, 7}, 100.0, false, 1.0), Scheme::two_step);
        AmgOptions options;
        options.coarsening = rule;
        const Coarsening next = coarsened(setup, options);
        const std::vector<Row> A = gathered(setup.comm, setup.part());
        const std::vector<Row> P = gathered(setup.comm, next.P);
        const std::vector<Row> coarse = gathered(setup.comm, next.A);
        std::vector<Row> wanted(coarse.size());
        for (std::size_t i = 0; i < A.size(); ++i)
            for (const auto& [j, a] : A[i])
                for (const auto& [k, left] : P[i])
                    for (const auto& [l, right] : P[static_cast<std::size_t>(j)])
                        wanted[static_cast<std::size_t>(k)][l] += left * a * right;
        double largest = 0;
        for (const Row& row : wanted)
            for (const auto& [l, value] : row) largest = std::max(largest, std::abs(value));
        double worst = 0;
        double skew = 0;
        for (std::size_t k = 0; k < wanted.size(); ++k) {
            REQUIRE(coarse[k].size() == wanted[k].size());
            for (const auto& [l, value] : wanted[k]) {
                worst = std::max(worst, std::abs(coarse[k].at(l) - value));
                const double back = coarse[static_cast<std::size_t>(l)].at(static_cast<std::int64_t>(k));
                skew = std::max(skew, std::abs(coarse[k].at(l) - back));
            }
        }
        CHECK(worst <= 1e-13 * largest);
        CHECK(skew <= 1e-13 * largest);
    }
}

TEST_CASE("the tentative prolongation is orthonormal, near-null vectors in its range, level after level") {
    for (const AmgProblem& problem : {stencil7({7, 6, 5}), elasticity({13, 11, 1})}) {
        AmgSetup setup(problem);
        PartRows A = setup.part();
        NearNull B = setup.near_null;
        const auto k = static_cast<std::size_t>(B.vectors);
        for (int level = 0; level < 2; ++level) {
            const PartRows nodes = nodes_of(A, B.node);
            GhostValues ghosts(setup.context, nodes, setup.scheme);
            const auto strong = strong_connections(nodes, ghosts, 0.0);
            const Aggregates aggregates = aggregate_mis2(setup.comm, nodes, strong, ghosts);
            const Tentative T = tentative_prolongation(setup.context, aggregates, A.rank, B);
            const RowPartition coarse = resized(aggregates.partition, 1, B.vectors);
            std::vector<int> counts;
            for (int r = 0; r < setup.comm.size(); ++r)
                counts.push_back(static_cast<int>(coarse.size(r)) * B.vectors);
            const std::vector<double> all = setup.comm.all_gather(T.coarse_null.values, counts);
            double wrong = 0;
            for (std::size_t r = 0; r < A.rows.rows(); ++r)
                for (std::size_t v = 0; v < k; ++v) {
                    double sum = 0;
                    for (auto [e, end] = entries_of(T.rows, r); e < end; ++e)
                        sum += T.rows.values[e] * all[static_cast<std::size_t>(T.rows.columns[e]) * k + v];
                    wrong += !(std::abs(sum - B.values[r * k + v]) <= 1e-13 * (1 + std::abs(sum)));
                }
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

TEST_CASE("no scheme of rows changes a bit of P, nor the next level but for the order of sums") {
    AmgSetup setup(stencil27({7, 6, 5}), Scheme::three_step);
    const Coarsening as_others = coarsened(setup, {});
    const auto P = gathered(setup.comm, as_others.P);
    const auto A = gathered(setup.comm, as_others.A);
    for (const SchemeOptions& rows : candidates_without_axes({}))
        for (const Ownership ownership : {Ownership::root, Ownership::condensed}) {
            INFO(name(rows) << ", " << name(ownership));
            AmgOptions options;
            options.rows_scheme = name(rows);
            options.ownership = ownership;
            const Coarsening next = coarsened(setup, options);
            CHECK(gathered(setup.comm, next.P) == P);
            const auto coarse = gathered(setup.comm, next.A);
            REQUIRE(coarse.size() == A.size());
            for (std::size_t i = 0; i < A.size(); ++i) {
                REQUIRE(coarse[i].size() == A[i].size());
                for (auto one = coarse[i].begin(), other = A[i].begin(); one != coarse[i].end();
                     ++one, ++other) {
                    CHECK(one->first == other->first);
                    CHECK(std::abs(one->second - other->second) < 1e-12);
                }
            }
            CHECK(name(next.rows_by) == name(rows));
            CHECK(name(next.partial_rows_by) == name(rows));
            CHECK(next.transfers_by.scheme == Scheme::three_step);
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
            CHECK(sent[0].messages == sent[1].messages);
            CHECK(sent[0].bytes == sent[1].bytes);
            CHECK(sent[0].off_node_messages == sent[1].off_node_messages);
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
