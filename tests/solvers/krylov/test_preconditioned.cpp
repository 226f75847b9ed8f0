// Preconditioned Krylov methods: the V-cycle is a linear and, where it should be, symmetric operator;
// diagonal preconditioning is diagonal scaling; every method that takes a preconditioner solves with it.

#include <catch2/catch.hpp>

#include "solvers/krylov/methods.hpp"
#include "solvers/multigrid/bottom/level_krylov.hpp"
#include "solvers/multigrid/v_cycle.hpp"
#include "solvers/systems/grid_system.hpp"
#include "tests/solvers/golden_problem.hpp"

using namespace keel;
using namespace keel::test;

namespace {

const Problem rough_ball{
    .boxes = {2, 2, 2}, .width = 8, .boundaries = mixed, .beta = "ball100", .alpha = "wave"};
const Problem singular{.boxes = {2, 2, 2}, .width = 8, .a = 0.0, .beta = "smooth10"};

double dot(Level& level, Field x, Field y) {
    return system_of(level).dot(x, y);
}

// Two vectors without structure, of mean 0 where the problem is singular.
std::pair<Field, Field> noise(Setup& setup) {
    Level& level = setup.finest();
    const std::pair pair(level.plain->make_field(), level.plain->make_field());
    setup.set(pair.first,
              [](const Index& c) { return std::sin(1.7 * c[0] + 2.3 * c[1] * c[1] + 3.9 * c[2]); });
    setup.set(pair.second, [](const Index& c) { return std::sin(2.9 * c[0] * c[2] + 1.1 * c[1] + 0.4); });
    if (setup.problem.singular())
        for (const Field x : {pair.first, pair.second}) remove_mean(*level.plain, *level.reduction, x);
    return pair;
}

// |(Mx,y) - (x,My)| / (|Mx| |y|), M given as M(z, r)
template <class Apply>
double asymmetry(Setup& setup, const Apply& M) {
    Level& level = setup.finest();
    const auto [x, y] = noise(setup);
    const Field Mx = level.plain->make_field();
    const Field My = level.plain->make_field();
    M(Mx, x);
    M(My, y);
    return std::abs(dot(level, Mx, y) - dot(level, x, My)) / std::sqrt(dot(level, Mx, Mx) * dot(level, y, y));
}

// M = D^-1
class Diagonal : public Preconditioner {
  public:
    explicit Diagonal(Level& level) : level_(level) {}
    void multiply(Vector z, Vector r) override {
        level_.operations.multiply(z, level_.L.inverse_diagonal, r);
    }

  private:
    Level& level_;
};

BottomOptions unscaled(const std::string& solver, double tolerance) {
    BottomOptions options;
    options.solver = solver;
    options.scaling = Scaling::none;
    options.tolerance = tolerance;
    options.max_iterations = 500;
    options.norm = method_named(solver).norms.front();
    return options;
}

}  // namespace

TEST_CASE("the V-cycle is symmetric with every smoother, and would not be without the reversed order") {
    const bool able = backend_info(chosen_backend()->name()).features.single_precision;
    for (const Problem& problem : {rough_ball, singular})
        for (const std::string smoother : {"gsrb", "jacobi", "chebyshev"})
            for (const int sweeps : {1, 2, 3}) {
                CAPTURE(smoother, sweeps, problem.singular());
                Setup setup(problem, {.bottom_box = 2});
                MultigridOptions options;
                options.smoother = smoother;
                options.pre = options.post = sweeps;
                options.relaxation = sweeps == 2 ? 1.3 : 1.0;
                VCycle M(setup.hierarchy, options, sweeps + 1);
                CHECK(asymmetry(setup, [&](Field z, Field r) { M.apply(z, r); }) < 1e-15);
                if (able) {
                    Setup in_both(problem, {.bottom_box = 2, .mixed = true});
                    VCycle single(in_both.hierarchy, options, sweeps + 1);
                    CHECK(single.precision() == Precision::fp32);
                    const double off = asymmetry(in_both, [&](Field z, Field r) { single.apply(z, r); });
                    CHECK(off < 1e-7);
                    CHECK(off > 1e-15);
                }
                if (smoother != "gsrb") continue;
                BottomOptions relaxed;
                relaxed.solver = "smooth";
                Multigrid plain(setup.hierarchy, options, relaxed);
                CHECK(asymmetry(setup, [&](Field z, Field r) { plain.cycle(z, r); }) > 1e-9);
            }
}

TEST_CASE("the V-cycle is linear, the same in every application, and leaves f and u alone") {
    Setup setup(rough_ball, {.bottom_box = 2});
    Level& level = setup.finest();
    VCycle M(setup.hierarchy, {}, 5);
    const auto [x, y] = noise(setup);
    const Field sum = level.plain->make_field();
    std::array<Field, 4> image;
    for (Field& field : image) field = level.plain->make_field();
    setup.set(level.u, [](const Index& c) { return 1.0 * c[0] - c[2]; });
    const Whole u = setup.gather(level.u);
    const Whole f = setup.gather(level.f);
    const Whole before = setup.gather(x);
    level.plain->axpby(sum, 2, x, -3, y);
    M.apply(image[0], x);
    M.apply(image[1], y);
    M.apply(image[2], sum);
    M.apply(image[3], x);
    CHECK(M.applications() == 4);
    CHECK(setup.gather(image[3]).values == setup.gather(image[0]).values);
    level.plain->axpby(sum, 2, image[0], -3, image[1]);
    level.plain->axpby(sum, 1, sum, -1, image[2]);
    CHECK(std::sqrt(dot(level, sum, sum)) < 1e-14 * std::sqrt(dot(level, image[2], image[2])));
    CHECK(setup.gather(level.u).values == u.values);
    CHECK(setup.gather(level.f).values == f.values);
    CHECK(setup.gather(x).values == before.values);
}

TEST_CASE("diagonal right preconditioning is right Jacobi scaling, iterate by iterate") {
    for (const std::string solver : {"bicgstab", "bicgstab_fused", "ca_bicgstab", "pipelined_bicgstab"}) {
        CAPTURE(solver);
        Setup setup(rough_ball, {.bottom_box = 8, .deterministic = true});
        Level& level = setup.finest();
        Diagonal M(level);
        BottomOptions options = unscaled(solver, 1e-4);
        const Report one = make_krylov(level, false, options, &M)->solve(level.u, level.f);
        const Whole u = setup.gather(level.u);
        options.scaling = Scaling::jacobi;
        const Report other = make_krylov(level, false, options)->solve(level.u, level.f);
        CHECK(one.residuals == other.residuals);
        CHECK(one.counts.applications == other.counts.applications);
        CHECK(u.values == setup.gather(level.u).values);
    }
}

TEST_CASE("every method that takes a preconditioner solves with it, sooner than without") {
    const auto takes = [](const Method& row) { return row.reads("preconditioner"); };
    CHECK(std::ranges::count_if(methods(), takes) >= 5);
    for (const Problem& problem : {rough_ball, singular})
        for (const Method& row : methods()) {
            if (!takes(row)) continue;
            const std::string& solver = row.name;
            CAPTURE(solver, problem.singular());
            Setup setup(problem, {.bottom_box = 2});
            Level& level = setup.finest();
            VCycle M(setup.hierarchy, {}, 24);
            BottomOptions options = unscaled(solver, 1e-9);
            // Powers of M A, which is nearly 1, are dependent.
            if (row.reads("spectrum") && row.reads("basis")) options.basis = Basis::chebyshev;
            options.spectrum = SpectrumFrom::given;
            options.spectrum_lowest = 0.2;
            const Report plain = make_krylov(level, problem.singular(), options)->solve(level.u, level.f);
            const auto krylov = make_krylov(level, problem.singular(), options, &M);
            const Report report = krylov->solve(level.u, level.f);
            CHECK(report.outcome == Outcome::converged);
            CHECK(report.met);
            CHECK(report.iterations < plain.iterations / 2);
            const Whole f = setup.gather(level.f);
            const double r = two_norm(residual_by_formula(problem, setup.gather(level.u), f));
            const double quotient = setup.agreed(r) / setup.agreed(two_norm(f));
            CHECK(relative(report.unscaled_residual, quotient) < 1e-3);
            if (options.norm == Norm::residual) CHECK(quotient <= 1.01e-9);

            // The same object once more: the same solve.
            const Report again = krylov->solve(level.u, level.f);
            CHECK(again.residuals.size() == report.residuals.size());
            CHECK(relative(again.residuals.back(), report.residuals.back()) < 1e-2);
        }
}

TEST_CASE("a V-cycle in single precision costs flexible methods no iteration, and others restarts") {
    if (!backend_info(chosen_backend()->name()).features.single_precision) return;
    for (const Problem& problem : {rough_ball, singular})
        for (const std::string solver : {"cg", "gmres", "deep_pipelined_cg", "bicgstab"})
            for (const int exponent : {0, -600, 600}) {
                CAPTURE(solver, problem.singular(), exponent);
                const auto solved = [&](bool in_single, int most_restarts) {
                    Setup setup(problem, {.bottom_box = 2, .mixed = in_single});
                    Level& level = setup.finest();
                    level.plain->scale(level.f, std::ldexp(1.0, exponent), level.f);
                    VCycle M(setup.hierarchy, {}, 24);
                    BottomOptions options = unscaled(solver, 1e-11);
                    options.max_restarts = most_restarts;
                    return make_krylov(level, problem.singular(), options, &M)->solve(level.u, level.f);
                };
                if (solver == "bicgstab") {
                    CHECK_THROWS_AS(solved(true, 10), std::invalid_argument);
                    continue;
                }
                const Report expected = solved(false, 10);
                const Report found = solved(true, 10);
                CHECK(found.met);
                if (solver != "deep_pipelined_cg") {
                    CHECK(found.restarts == 0);
                    CHECK(found.iterations == expected.iterations);
                    continue;
                }
                CHECK(found.iterations <= 2 * expected.iterations);
                CHECK_FALSE(solved(true, 0).met);
            }
}

TEST_CASE("what no preconditioned method can be is refused") {
    Setup setup(rough_ball, {.bottom_box = 4});
    Level& level = setup.finest();
    VCycle M(setup.hierarchy, {}, 2), uneven(setup.hierarchy, {.pre = 1, .post = 2}, 2);
    CHECK_FALSE(uneven.symmetric());
    for (const Method& row : methods())
        for (const Norm norm : {Norm::residual, Norm::natural}) {
            CAPTURE(row.name, name(norm));
            BottomOptions options = unscaled(row.name, 1e-3);
            options.norm = norm;
            const auto made = [&](VCycle& by) { return make_krylov(level, false, options, &by); };
            if (row.accepts_preconditioner() && row.tests(norm))
                CHECK(made(M));
            else
                CHECK_THROWS_AS(made(M), std::invalid_argument);
            if (row.preconditioning == Preconditioning::symmetric)
                CHECK_THROWS_AS(made(uneven), std::invalid_argument);
        }
    BottomOptions scaled = unscaled("bicgstab", 1e-3);
    scaled.scaling = Scaling::jacobi;
    CHECK_THROWS_AS(make_krylov(level, false, scaled, &M), std::invalid_argument);
    BottomOptions deep = unscaled("ca_bicgstab", 1e-3);
    deep.powers = Powers::matrix_powers;
    CHECK_THROWS_AS(make_krylov(level, false, deep, &M), std::invalid_argument);
    BottomOptions twofold = unscaled("ca_cg", 1e-3);
    twofold.gram_precision = GramPrecision::twofold;
    CHECK_THROWS_AS(make_krylov(level, false, twofold, &M), std::invalid_argument);
    Setup one_level(rough_ball, {.bottom_box = 8});
    CHECK_THROWS(VCycle(one_level.hierarchy, {}, 2));
}
