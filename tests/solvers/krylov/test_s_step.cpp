// The s-step methods: their bases, their equivalence with the methods they rearrange, and what they
// communicate.

#include <algorithm>
#include <catch2/catch.hpp>

#include "solvers/krylov/s_step/basis.hpp"
#include "solvers/krylov/s_step/s_step.hpp"
#include "solvers/multigrid/multigrid.hpp"
#include "tests/solvers/golden_file.hpp"
#include "tests/solvers/krylov/one_level.hpp"

using namespace keel;
using namespace keel::test;

namespace {

const std::vector<Basis> bases{Basis::monomial, Basis::newton, Basis::chebyshev};

// One way to build a basis, and the ghost layers that it takes.
struct PowersWay {
    Powers powers;
    int depth = 0;

    long exchanges(int degree) const {
        if (exchanges_for_several(powers)) return (degree + depth - 1) / depth;
        return powers == Powers::paired ? degree : 2 * degree - 1;
    }
};
const std::vector<PowersWay> ways{{Powers::paired},
                                  {Powers::sequential},
                                  {Powers::matrix_powers, 1},
                                  {Powers::matrix_powers, 3},
                                  {Powers::fused_matrix_powers, 3},
                                  {Powers::matrix_powers, 4}};

// A scaled system with the ghost layers of these powers, and the bounds of its spectrum.
struct System : OneLevel {
    explicit System(DiagonalScaling chosen, const PowersWay& way)
        : OneLevel(rough, chosen, {.bottom_ghosts = way.depth}, way.powers == Powers::fused_matrix_powers),
          spectrum{2 - level.jacobi_bound, level.jacobi_bound} {}

    Spectrum spectrum;
};

}  // namespace

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

TEST_CASE("Chebyshev's basis are Chebyshev polynomials of the interval, and a point is not divided by") {
    // rho_i at an eigenvalue, by the recurrence and by T_i(cos t) = cos(i t).
    const auto A = recurrence(Basis::chebyshev, 6, {1.0, 5.0});
    const double t = 0.7;
    const double lambda = 3 + 2 * std::cos(t);
    std::vector<double> rho{1.0};
    for (std::size_t i = 0; i < 6; ++i)
        rho.push_back(((lambda - A[i].theta) * rho[i] - (i > 0 ? A[i].sigma * rho[i - 1] : 0.0)) /
                      A[i].gamma);
    for (int i = 0; i <= 6; ++i) CHECK(std::abs(rho[static_cast<std::size_t>(i)] - std::cos(i * t)) < 1e-13);
    for (const Basis basis : {Basis::newton, Basis::chebyshev})
        for (const Relation& relation : recurrence(basis, 4, {1.0, 1.0})) CHECK(relation.gamma > 1e-4);
}

TEST_CASE("the space of a pair holds its Krylov vectors, their inner products and the operator") {
    for (const Basis basis : bases)
        for (const PowersWay& way : ways)
            for (const int degree : {1, 2, 5}) {
                CAPTURE(static_cast<int>(basis), static_cast<int>(way.powers), way.depth, degree);
                System system(DiagonalScaling::right, way);
                LinearSystem& A = system.A;
                const auto p = A.make_vector();
                const auto y = A.make_vector();
                system.setup.set(p, [](const Index& c) { return std::cos(1.0 + c[0] * c[1] - 2 * c[2]); });
                system.setup.set(y, [](const Index& c) { return std::sin(0.3 + c[0] + c[1] * c[2]); });
                const auto r = system.level.f;
                const auto u = A.make_vector();
                PairSpace<double> space(
                    {A,
                     {.s = degree, .basis = basis, .telescoping = false, .powers = way.powers},
                     system.spectrum},
                    1);

                const Counts start = A.counts();
                space.span(u, p, r, std::span(&y, 1));
                const Counts spent = A.counts() - start;
                const int n = 2 * degree + 1;
                CHECK(space.size() == n);
                CHECK(spent.applications == 2 * degree - 1);
                CHECK(spent.exchanges == way.exchanges(degree));
                CHECK(spent.reductions == 1);
                CHECK(spent.words == n * (n + 1) / 2 + n);

                // Some vector of the space without its last directions, u = V c, and A u = V T c.
                const auto of_r = static_cast<std::size_t>(space.place_of_r());
                for (std::size_t i = 0; i < space.e.size(); ++i)
                    space.e[i] = i + 1 == of_r || i + 1 == space.e.size()
                                     ? 0.0
                                     : 1.0 + static_cast<double>(i) / (n - 1.0);
                space.apply(space.Ta, space.e);
                space.weigh(space.GT, space.e);
                const double norm = space.norm(space.e);
                const double uu = space.dot(space.e, space.GT);
                const double uy = space.dot(space.g, space.e);
                space.c = space.Ta;
                std::ranges::fill(space.a, 0.0);
                space.a[0] = 1.0;
                space.a[of_r] = 2.0;
                const auto p_2r = A.make_vector();
                A.axpby(p_2r, 1, p, 2, r);
                const auto Au = A.make_vector();
                const auto next_p = A.make_vector();
                space.advance(next_p);  // r = A u
                A.apply(Au, u);
                CHECK(system.distance(r, Au) < 1e-13);
                CHECK(system.distance(next_p, p_2r) < 1e-15);
                CHECK(relative(uu, A.dot(u, u)) < 1e-12);
                CHECK(relative(norm, std::sqrt(A.dot(u, u))) < 1e-12);
                CHECK(std::abs(uy - A.dot(u, y)) < 1e-12 * std::sqrt(A.dot(u, u) * A.dot(y, y)));

                A.copy(u, y);
                std::ranges::fill(space.e, 0.0);
                space.e[0] = 1.0;
                space.finish();
                A.axpby(Au, 1, y, 1, p);
                CHECK(system.distance(u, Au) < 1e-15);
            }
}

TEST_CASE("s-step methods make the iterates of the methods they rearrange, for every s and basis") {
    // Three outer steps, since the printed errors of the paper's algorithm leave the first x right where s =
    // 1. What rounding leaves grows with the square of the basis's condition; a wrong formula is off by 0.5
    // or more.
    for (const bool cg : {false, true})
        for (const PowersWay& way : ways)
            for (const Basis basis : bases)
                for (const int s : {1, 2, 4}) {
                    CAPTURE(cg, static_cast<int>(way.powers), way.depth, static_cast<int>(basis), s);
                    System system(cg ? DiagonalScaling::symmetric : DiagonalScaling::right, way);
                    const BottomOptions options{
                        .s = s, .basis = basis, .telescoping = false, .powers = way.powers};
                    const Stop stop{1e-30, 3 * s, 0};
                    const Report plain = system.solve(made(cg ? "cg" : "bicgstab"), stop);
                    const Field x = system.A.make_vector();
                    system.A.copy(x, system.y);
                    const Report stepped =
                        system.solve(made(cg ? "ca_cg" : "ca_bicgstab", options, system.spectrum), stop);
                    REQUIRE(stepped.iterations == 3 * s);
                    REQUIRE(stepped.residuals.size() == plain.residuals.size());
                    const double rounding = basis == Basis::monomial && s == 4 && !cg ? 1e-5 : 1e-9;
                    CHECK(system.distance(x) < rounding);
                    for (std::size_t k = 0; k < plain.residuals.size(); ++k)
                        CHECK(relative(stepped.residuals[k], plain.residuals[k]) < 100 * rounding);
                }
}

TEST_CASE("telescoping takes s = 1, 2, 4, ... and no more than bottom.s") {
    CHECK(outer_steps({.s = 1, .telescoping = true}) == std::vector{1});
    CHECK(outer_steps({.s = 4, .telescoping = true}) == std::vector{1, 2, 4});
    CHECK(outer_steps({.s = 7, .telescoping = true}) == std::vector{1, 2, 4, 7});
    CHECK(outer_steps({.s = 7, .telescoping = false}) == std::vector{7});
}

TEST_CASE("an s-step solve exchanges, reduces and sends what the theory says") {
    for (const std::string name : {"ca_bicgstab", "ca_cg"})
        for (const PowersWay& way : ways)
            for (const bool telescoping : {false, true})
                for (const int s : {1, 2, 3, 4})
                    for (const int iterations : {1, 4, 9}) {
                        const bool twofold = iterations == 4;
                        CAPTURE(name, static_cast<int>(way.powers), way.depth, telescoping, s, iterations);
                        BottomOptions options;
                        if (twofold) options.gram_precision = GramPrecision::twofold;
                        options.solver = name;
                        options.basis = Basis::chebyshev;
                        options.s = s;
                        options.telescoping = telescoping;
                        options.powers = way.powers;
                        options.powers_depth = way.depth;
                        options.tolerance = 1e-30;
                        options.max_iterations = iterations;
                        Setup setup(rough,
                                    {.bottom_box = 4, .bottom_ghosts = powers_need(options, 4).layers});
                        const auto visit = Multigrid(setup.hierarchy, {}, options).solve_bottom();
                        CHECK(visit.iterations == iterations);

                        // Outer steps that have begun; (b,b) at the start and the verification at the end, of
                        // ca_cg, which is scaled on both sides, also without the scaling.
                        Counts expected{1, 1, 2, name == "ca_cg" ? 4 : 2};
                        const int degree_per_s = name == "ca_cg" ? 1 : 2;
                        for (int done = 0, step = telescoping ? 1 : s; done < iterations;
                             done += step, step = std::min(2 * step, s)) {
                            const int m = degree_per_s * step;
                            expected.applications += 2 * m - 1;
                            expected.exchanges += way.exchanges(m);
                            expected.reductions += 1;
                            expected.words +=
                                (twofold ? 2 : 1) * (name == "ca_cg" ? (2 * step + 1) * (step + 1)
                                                                     : (4 * step + 1) * (2 * step + 2));
                        }
                        CHECK(visit.counts.applications == expected.applications);
                        CHECK(visit.counts.exchanges == expected.exchanges);
                        CHECK(visit.counts.reductions == expected.reductions);
                        CHECK(visit.counts.words == expected.words);
                    }
}

TEST_CASE("a pair of vectors travels in one message per neighbour") {
    // The same bytes but for one message in two, each exchange but the last of an outer step carrying two
    // vectors.
    const auto traffic = [](Powers powers) {
        BottomOptions options;
        options.solver = "ca_bicgstab";
        options.telescoping = false;
        options.powers = powers;
        options.tolerance = 1e-30;
        options.max_iterations = 8;
        Setup setup(rough, {.bottom_box = 4});
        Multigrid(setup.hierarchy, {}, options).solve_bottom();
        return std::pair(setup.ledger.at(Op::send, 0).traffic,
                         setup.finest().ghosts->plan().traffic(setup.comm.rank(), setup.topology, 1));
    };
    const auto [paired, once] = traffic(Powers::paired);
    const auto [sequential, same] = traffic(Powers::sequential);
    CHECK(paired.messages == (2 * 8 + 1) * once.messages);
    CHECK(sequential.messages == (2 * 15 + 1) * once.messages);
    CHECK(paired.bytes == (2 * 15 + 1) * once.bytes);
    CHECK(sequential.bytes == paired.bytes);
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
