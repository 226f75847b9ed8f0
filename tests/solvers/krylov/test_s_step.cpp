// The s-step methods: their bases, and where these carry them.

#include <catch2/catch.hpp>

#include "solvers/krylov/s_step/basis.hpp"
#include "solvers/krylov/s_step/s_step.hpp"
#include "solvers/multigrid/multigrid.hpp"
#include "tests/solvers/golden_file.hpp"

using namespace keel;
using namespace keel::test;

TEST_CASE("operators in the bases are the golden ones") {
    const auto file = golden("krylov_s_step.json");  // outlives the loop
    for (const auto& json : file.at("tprime")) {
        const int s = json.at("s");
        const std::string name = json.at("basis");
        CAPTURE(s, name);
        const Basis basis = named<Basis>(name).value();
        const auto relations = recurrence(basis, 2 * s, {json.at("lo"), json.at("hi")});
        const auto rows = json.at("T").get<std::vector<std::vector<double>>>();
        const int n = 2 * (2 * s) + 1;
        REQUIRE(static_cast<int>(rows.size()) == n);
        for (int j = 0; j < n; ++j) {
            std::vector<double> unit(rows.size(), 0.0);
            unit[static_cast<std::size_t>(j)] = 1.0;
            for (int i = 0; i < n; ++i) {
                const double T = applied_in_bases(relations, i, unit);
                CHECK(std::abs(T - rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)]) < 1e-14);
            }
        }
    }
    // A spectrum of one point is not divided by.
    for (const Basis basis : {Basis::newton, Basis::chebyshev})
        for (const Relation& relation : recurrence(basis, 4, {1.0, 1.0})) CHECK(relation.gamma > 1e-4);
}

TEST_CASE("shifts are in the golden Leja order") {
    const auto file = golden("krylov_s_step.json");  // outlives the loop
    for (const auto& json : file.at("leja_shifts")) {
        const auto expected = json.at("shifts").get<std::vector<double>>();
        CAPTURE(expected.size());
        const auto shifts =
            recurrence(Basis::newton, static_cast<int>(expected.size()), {json.at("lo"), json.at("hi")});
        REQUIRE(shifts.size() == expected.size());
        for (std::size_t n = 0; n < shifts.size(); ++n) CHECK(relative(shifts[n].theta, expected[n]) < 1e-14);
    }
    CHECK(leja_order({}).empty());
    CHECK(leja_order({1, -4, 3, 0}) == std::vector<double>{-4, 3, 0, 1});
    CHECK(leja_order({2, 2, 1}) == std::vector<double>{2, 1, 2});  // a point twice comes last
}

TEST_CASE("Newton, Chebyshev and twofold precision carry s-step methods where the monomial basis fails") {
    // s = 8: a monomial basis of degree 16 has condition 1e11, its Gram matrix 1e22.
    const Problem larger{.boxes = {2, 2, 2}, .width = 8, .beta = "smooth100"};
    const auto visit = [&](const std::string& name, Basis basis,
                           GramPrecision precision = GramPrecision::simple) {
        BottomOptions options;
        options.gram_precision = precision;
        options.solver = name;
        options.basis = basis;
        options.s = 8;
        options.telescoping = false;
        options.tolerance = 1e-6;
        options.max_iterations = 400;
        options.max_restarts = 0;
        Setup setup(larger, {.bottom_box = 8});
        return Multigrid(setup.hierarchy, {}, options).solve_bottom();
    };
    for (const Basis basis : {Basis::newton, Basis::chebyshev}) {
        CHECK(visit("ca_bicgstab", basis).met);
        CHECK(visit("ca_cg", basis).met);
    }
    CHECK(visit("ca_bicgstab", Basis::monomial, GramPrecision::twofold).met);
    const auto failed = visit("ca_bicgstab", Basis::monomial);
    CHECK_FALSE(failed.met);
    CHECK(failed.outcome != Outcome::converged);
    CHECK(failed.tested());
    CHECK((failed.outcome == Outcome::breakdown) == !failed.vanished.empty());
}
