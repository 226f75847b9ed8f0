// How solves end when they should not converge, and that no end is claimed falsely.

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <tuple>

#include "solvers/multigrid/multigrid.hpp"
#include "tests/solvers/krylov/one_level.hpp"

using namespace keel;
using namespace keel::test;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

// The classic methods, unscaled.
const std::vector<Tried> classic{{"bicgstab", made("bicgstab")},
                                 {"bicgstab_fused", made("bicgstab_fused")},
                                 {"cg", made("cg")},
                                 {"ca_bicgstab", made("ca_bicgstab")},
                                 {"ca_cg", made("ca_cg")}};
std::vector<Tried> all_methods() {
    std::vector<Tried> methods = classic;
    for (const Tried& one : pipelined_methods()) methods.push_back(one);
    for (const std::string name :
         {"enlarged_cg", "enlarged_orthomin", "ecg", "sre_cg", "gmres", "ca_gmres", "s_step_cg"})
        methods.push_back({name, made(name)});
    methods.push_back({"pipelined_s_step_cg", made("pipelined_s_step_cg", {.s = 2})});
    return methods;
}

// A method made of one function.
class Scripted : public KrylovMethod {
  public:
    using Script = std::function<Outcome(const Run&, Report&, int visit)>;
    explicit Scripted(Script script) : script_(std::move(script)) {}
    Outcome iterate(const Run& run, Report& report) override { return script_(run, report, visits_++); }

  private:
    Script script_;
    int visits_ = 0;
};
Make scripted(const Scripted::Script& script) {
    return [script](LinearSystem&) { return std::make_unique<Scripted>(script); };
}

}  // namespace

TEST_CASE("by the max norm bicgstab and cg make the same iterates and stop where max|r| is small enough") {
    BottomOptions options;
    options.norm = Norm::max;
    for (const std::string method : {"bicgstab", "cg"}) {
        CAPTURE(method);
        OneLevel system(rough);
        const Report report = system.solve(made(method, options), {1e-6, 200, 0, true});
        const Field r = system.A.make_vector();
        system.A.residual(r, system.b, system.y);
        const double quotient = system.A.max_norm(r) / system.A.max_norm(system.b);
        CHECK(report.met);
        CHECK(report.outcome == Outcome::converged);
        CHECK(quotient <= 1e-6);
        CHECK(relative(report.true_residual, quotient) < 1e-9);
        // It is the first iterate that does.
        system.solve(made(method, options), {1e-30, report.iterations - 1, 0, true});
        system.A.residual(r, system.b, system.y);
        CHECK(system.A.max_norm(r) > 1e-6 * system.A.max_norm(system.b));

        const Report by_max = system.solve(made(method, options), {1e-30, 10, 0, true});
        const std::vector<double> solution = system.solution();
        const Report plain = system.solve(made(method), {1e-30, 10, 0});
        CHECK(system.solution() == solution);
        // (r,r) at the start, and for cg a maximum an iteration beside (r,r).
        CHECK(by_max.counts.reductions - plain.counts.reductions == (method == "cg" ? 11 : 1));
        CHECK(by_max.counts.words - plain.counts.words == (method == "cg" ? 11 : 1));
    }
}

TEST_CASE("a right-hand side of zero is solved in no iteration by zero") {
    for (const auto& [name, make, scaling] : all_methods()) {
        CAPTURE(name);
        OneLevel system(rough, scaling);
        system.A.fill(system.level.f, 0.0);
        system.A.fill(system.y, 7.0);
        const Report report = system.solve(make, {1e-8, 100, 8});
        CHECK(report.outcome == Outcome::converged);
        CHECK(report.iterations == 0);
        CHECK(report.met);
        CHECK(report.true_residual == 0.0);
        CHECK(system.A.dot(system.y, system.y) == 0.0);
    }
    Setup setup({.width = 8, .rhs = "wave"});
    setup.set(setup.finest().f, [](const Index&) { return 0.0; });
    const SolveReport report = Multigrid(setup.hierarchy, {}, {}).solve();
    CHECK(report.converged());
    CHECK(report.cycles == 0);
    CHECK(report.visits.empty());
}

TEST_CASE("a right-hand side that is not finite is a breakdown of (b,b), never met") {
    for (const auto& [name, make, scaling] : all_methods())
        for (const double poison : {not_a_number, infinity}) {
            CAPTURE(name, poison);
            OneLevel system(rough, scaling);
            system.setup.set(system.level.f, [&](const Index& c) {
                return c == Index{5, 0, 6} ? poison : 1.0;
            });
            const Report report = system.solve(make, {1e-8, 100, 8});
            CHECK(report.outcome == Outcome::breakdown);
            CHECK(report.vanished == "(b,b)");
            CHECK(report.iterations == 0);
            CHECK_FALSE(report.met);
            CHECK(report.true_residual == infinity);
            CHECK(system.A.dot(system.y, system.y) == 0.0);
        }
}

TEST_CASE("a right-hand side whose square under- or overflows is solved as any other, bit by bit") {
    for (const auto& [name, make, scaling] : classic) {
        OneLevel system(rough);
        const Report ordinary = system.solve(make, {1e-8, 100, 8});
        for (const int exponent : {-1000, -600, 600, 950}) {
            CAPTURE(name, exponent);
            const double factor = std::ldexp(1.0, exponent);
            system.setup.set(system.level.f, [&](const Index& c) { return factor * rough.f(c); });
            const Report report = system.solve(make, {1e-8, 100, 8});
            CHECK(report.outcome == Outcome::converged);
            CHECK(report.met);
            CHECK(report.true_residual > 0.0);
            CHECK(report.true_residual <= 1e-8);
            // Sums over ranks have no order of their own.
            if (system.setup.comm.size() == 1) CHECK(report.residuals == ordinary.residuals);
            const Field r = system.A.make_vector();
            system.A.residual(r, system.level.f, system.level.u);
            CHECK(system.A.norm(r) <= 1.001e-8 * system.A.norm(system.level.f));
        }
    }
}

TEST_CASE("a solution too small for its numbers is a breakdown of x, never met") {
    for (const auto& [name, make, scaling] : classic) {
        CAPTURE(name);
        OneLevel system(rough);
        system.setup.set(system.level.f, [&](const Index& c) { return std::ldexp(rough.f(c), -1060); });
        const Report report = system.solve(make, {1e-8, 100, 8});
        CHECK(report.outcome == Outcome::breakdown);
        CHECK(report.vanished == "x");
        CHECK_FALSE(report.met);
        CHECK(report.true_residual > 1e-8);
    }
}

TEST_CASE("a norm is that of its numbers, however small or large") {
    OneLevel system(rough);
    const Field x = system.A.make_vector();
    const double cells = 512;
    for (const int exponent : {-1070, -1030, -600, -100, 0, 100, 600, 1018}) {
        CAPTURE(exponent);
        const double value = std::ldexp(1.0, exponent);
        system.A.fill(x, value);
        CHECK(system.A.norm(x) == Approx(value * std::sqrt(cells)).epsilon(1e-14));
        CHECK(system.level.plain->read(x, cube(1)).front() == value);
    }
    system.A.fill(x, 0.0);
    CHECK(system.A.norm(x) == 0.0);
    for (const double poison : {not_a_number, infinity}) {
        system.A.fill(x, poison);
        CHECK(system.A.norm(x) == infinity);
    }
}

TEST_CASE("an iteration limit is named, counted exactly and not met") {
    for (const auto& [name, make, scaling] : all_methods())
        for (const int limit : {1, 2, 3, 5, 6}) {
            CAPTURE(name, limit);
            OneLevel system(rough, scaling);
            const Report report = system.solve(make, {1e-8, limit, 8});
            CHECK(report.outcome == Outcome::iteration_limit);
            CHECK(report.iterations == limit);
            CHECK_FALSE(report.met);
            CHECK(report.true_residual > 1e-8);
            CHECK(relative(report.true_residual, system.residual()) < 1e-12);
            // The coordinates of s-step methods round more.
            const double rounding = name.starts_with("ca_") ? 1e-7 : 1e-10;
            CHECK(relative(report.true_residual, report.residuals.back()) < rounding);
            CHECK(report.residuals.size() == static_cast<std::size_t>(limit) + 1);
        }
}

TEST_CASE("conjugate gradients notice an operator that is not positive definite") {
    std::vector<Tried> methods = pipelined_cg_family();
    methods.push_back({"cg", made("cg")});
    methods.push_back({"ca_cg", made("ca_cg")});
    Problem indefinite = rough;
    indefinite.alpha = "const";
    for (const auto& [a, rhs, at_once] :
         {std::tuple{-1e6, "tri", true}, {-1e6, "wave", true}, {-100.0, "wave", false}})
        for (const auto& [name, make, scaling] : methods) {
            CAPTURE(a, rhs, name);
            indefinite.a = a;
            indefinite.rhs = rhs;
            OneLevel system(indefinite);
            const Report report = system.solve(make, {1e-8, 500, at_once ? 8 : 0});
            CHECK(report.outcome == Outcome::breakdown);
            CHECK(report.vanished == (name.starts_with("p(") ? "pivot of T" : "(p,Ap)"));
            CHECK((report.iterations == 0) == at_once);
            CHECK(report.restarts == 0);
            CHECK_FALSE(report.met);
            CHECK(report.true_residual <= 1.0);  // the best iterate is kept
            const double rounding = name == "cg" || name == "ca_cg" ? 1e-12 : 1e-10;
            CHECK(relative(report.true_residual, system.residual()) < rounding);
        }
}

TEST_CASE("a tolerance that cannot be met ends, unmet, with the best iterate") {
    for (const auto& [name, make, scaling] : all_methods()) {
        CAPTURE(name);
        OneLevel system(rough, scaling);
        const Report report = system.solve(make, {1e-30, 1000, 8});
        CHECK(report.outcome != Outcome::converged);
        CHECK_FALSE(report.met);
        CHECK(report.iterations <= 1000);
        // Beyond what they can attain, these two move away again.
        const bool drifts = name == "p-BiCGStab" || name == "sre_cg";
        CHECK(report.true_residual <= (drifts ? 1.0 : 1e-11));
        CHECK(relative(system.residual(), report.true_residual) < 1e-12);
    }
}

TEST_CASE("a false claim of convergence is verified, restarted and in the end named stagnation") {
    OneLevel system(rough);
    int runs = 0;
    const Report report = system.solve(scripted([&](const KrylovMethod::Run&, Report& r, int) {
                                           ++runs;
                                           ++r.iterations;
                                           return r.converged(0.0);
                                       }),
                                       {1e-8, 100, 8});
    CHECK(report.outcome == Outcome::stagnated);
    CHECK(report.restarts == 8);
    CHECK(runs == 9);
    CHECK_FALSE(report.met);
    CHECK(report.true_residual == 1.0);
    CHECK(report.counts.reductions == 1 + 9);
    CHECK(report.counts.exchanges == 9);
}

TEST_CASE("a method that claims and does nothing is not asked again") {
    OneLevel system(rough);
    const Report report = system.solve(
        scripted([](const KrylovMethod::Run&, Report& r, int) { return r.converged(0.0); }), {1e-8, 100, 8});
    CHECK(report.outcome == Outcome::stagnated);
    CHECK(report.restarts == 0);
    CHECK_FALSE(report.met);
}

TEST_CASE("a run that ruins x is discarded, and the next starts from the best iterate") {
    for (const double ruin : {1e12, infinity, not_a_number}) {
        CAPTURE(ruin);
        OneLevel system(rough);
        GridSystem& A = system.A;
        const double bb = A.dot(system.level.f, system.level.f);
        std::vector<double> starts;
        const auto cg = std::make_shared<std::unique_ptr<KrylovMethod>>(made("cg")(A));
        const Report report =
            system.solve(scripted([&, cg](const KrylovMethod::Run& run, Report& r, int visit) {
                             starts.push_back(run.rr / bb);
                             if (visit == 0) {  // half of the way, honestly
                                 auto some = run;
                                 some.limit = 5;
                                 (*cg)->iterate(some, r);
                                 return r.breakdown("patience");
                             }
                             if (visit == 1) {  // ruin
                                 ++r.iterations;
                                 A.combine(run.x, std::array{ruin}, std::array{system.level.f});
                                 return r.converged(0.0);
                             }
                             return (*cg)->iterate(run, r);
                         }),
                         {1e-8, 500, 8});
        REQUIRE(starts.size() == 3);
        CHECK(starts[0] == 1.0);
        CHECK(starts[1] < 1.0);
        CHECK(starts[1] > 1e-10);
        CHECK(relative(starts[2], starts[1]) < 1e-12);
        CHECK(report.outcome == Outcome::converged);
        CHECK(report.vanished.empty());
        CHECK(report.restarts == 2);
        CHECK(report.met);
        CHECK(relative(report.true_residual, system.residual()) < 1e-10);
    }
}

TEST_CASE("a breakdown in the last run is the outcome, with its name") {
    OneLevel system(rough);
    const Report report = system.solve(scripted([](const KrylovMethod::Run&, Report& r, int) {
                                           ++r.iterations;
                                           return r.breakdown("rho");
                                       }),
                                       {1e-8, 100, 2});
    CHECK(report.outcome == Outcome::breakdown);
    CHECK(report.vanished == "rho");
    CHECK(report.restarts == 2);
    CHECK_FALSE(report.met);
}

TEST_CASE("a Krylov space that is exhausted, before a pipe is full, too, ends in convergence") {
    for (const auto& [name, make, scaling] : all_methods()) {
        CAPTURE(name);
        SECTION("an eigenvector: one step " + name) {
            OneLevel system({.boxes = {2, 2, 2}, .width = 4}, scaling);
            system.setup.set(system.level.f, [&](const Index& c) {
                return std::cos(two_pi * system.setup.problem.centre(c)[1]);
            });
            const Report report = system.solve(make, {1e-12, 100, 8});
            CHECK(report.outcome == Outcome::converged);
            if (scaling == DiagonalScaling::none)
                CHECK(report.iterations <= 2);
            else
                CHECK(report.iterations == 1);
            CHECK(report.met);
            CHECK(system.residual() <= 1e-12);
        }
        SECTION("eight cells " + name) {
            OneLevel system({.boxes = {2, 2, 2}, .width = 1, .boundaries = dirichlet, .beta = "smooth10"},
                            scaling);
            const Report report = system.solve(make, {1e-12, 100, 8});
            CHECK(report.outcome == Outcome::converged);
            CHECK(report.iterations <= 16);
            CHECK(system.residual() <= 1e-12);
        }
        SECTION("three eigenvalues in the right-hand side " + name) {
            OneLevel system({.boxes = {2, 2, 2}, .width = 4, .rhs = "tri"}, scaling);
            const Report report = system.solve(make, {1e-12, 100, 8});
            CHECK(report.outcome == Outcome::converged);
            CHECK(system.residual() <= 1e-12);
        }
    }
}

TEST_CASE("a method meets what a vector not finite leaves behind with a named breakdown") {
    // b is finite, its image is not.
    for (const auto& [name, make, scaling] : all_methods()) {
        CAPTURE(name);
        OneLevel system(rough);
        system.setup.set(system.level.L.inverse_diagonal, [](const Index& c) {
            return c == Index{5, 0, 6} ? not_a_number : 1.0;
        });
        const Report report = system.solve(make, {1e-8, 100, 8});
        CHECK(report.outcome == Outcome::breakdown);
        CHECK_FALSE(report.vanished.empty());
        CHECK_FALSE(report.met);
        CHECK(report.true_residual == 1.0);
    }
}

TEST_CASE("later solves with the same method are bitwise the first, whatever was solved between") {
    for (const auto& [name, make, scaling] : all_methods()) {
        CAPTURE(name);
        const DiagonalScaling usual = scaling == DiagonalScaling::none ? method_named(name).scaling : scaling;
        OneLevel system(rough, usual, {.deterministic = true});
        Restarted solver(system.A, make);
        const Report first = system.solve(solver, {1e-9, 500, 8});
        const std::vector<double> solution = system.solution();
        CHECK(first.met);
        CHECK(first.residuals.size() > 5);
        for (const double size : {1.0, 1e150}) {  // the second overflows inside
            system.setup.set(system.level.f, [&](const Index& c) { return c == Index{} ? size : 0.0; });
            system.solve(solver, {1e-9, 40, 8});
            system.setup.set(system.level.f, [](const Index& c) { return rough.f(c); });
            const Report again = system.solve(solver, {1e-9, 500, 8});
            CHECK(again.residuals == first.residuals);
            CHECK(again.true_residual == first.true_residual);
            CHECK(system.solution() == solution);
        }
    }
}

TEST_CASE("multigrid out of cycles has not converged") {
    for (const auto cycle : {Cycle::v, Cycle::f}) {
        Setup setup({.width = 8, .beta = "smooth10"}, {.all_ghosts = true});
        MultigridOptions options;
        options.cycle = cycle;
        options.max_cycles = 1;
        const SolveReport report = Multigrid(setup.hierarchy, options, {}).solve();
        CHECK(report.outcome == Outcome::iteration_limit);
        CHECK(report.cycles == 1);
        CHECK(report.residuals.size() == 2);
        CHECK(report.residuals[1] > options.tolerance);
    }
}

TEST_CASE("multigrid that has come down to the floor of rounding stagnates, and tells the floor") {
    const Problem jump{
        .boxes = {2, 2, 2}, .width = 8, .boundaries = dirichlet, .a = 0, .beta = "ball1000", .rhs = "tri"};
    Setup setup(jump, {.bottom_box = 4});
    const MultigridOptions options{.tolerance = 1e-17, .max_cycles = 200};
    const SolveReport report = Multigrid(setup.hierarchy, options, {}).solve();
    CHECK(report.outcome == Outcome::stagnated);
    CHECK(report.cycles < 60);
    const double residual = report.residuals.back();
    CHECK(residual < 1e-11);
    const double tightest = *std::min_element(report.residuals.begin(), report.residuals.end());
    CHECK(residual < 4 * tightest);  // it had come down

    double most = 0;  // the largest sum of magnitudes in a row
    for_each_index(jump.cells(), [&](const Index& cell) {
        double diagonal = jump.a_alpha(cell);
        double others = 0;
        for (std::size_t d = 0; d < 3; ++d)
            for (const int side : {0, 1}) {
                Index face = cell;
                face[d] += side;
                diagonal += jump.face(d, face);
                if (face[d] > 0 && face[d] < jump.cells()[d]) others += jump.face(d, face);
            }
        most = std::max(most, diagonal + others);
    });
    const double u = setup.agreed(max_norm(setup.gather(setup.finest().u)));
    const double f = setup.agreed(max_norm(setup.gather(setup.finest().f)));
    REQUIRE(report.floor.has_value());
    CHECK(*report.floor == Approx(std::numeric_limits<double>::epsilon() * most * u / f));
    CHECK(residual <= *report.floor);
    CHECK(residual > 1e-3 * *report.floor);
}

TEST_CASE("cycles that gain a few per cent each are not cut off") {
    Setup setup({.width = 8, .boundaries = dirichlet, .a = 0}, {.bottom_box = 4});
    MultigridOptions options{.pre = 0, .post = 1, .smoother = "gsrb", .max_cycles = 1000};
    options.relaxation = 0.1;  // a factor of 0.96 a cycle
    BottomOptions bottom;
    bottom.solver = "smooth";
    bottom.sweeps = 20;
    const SolveReport report = Multigrid(setup.hierarchy, options, bottom).solve();
    CHECK(report.converged());
    CHECK(report.cycles > 200);
    CHECK_FALSE(report.floor.has_value());
}

TEST_CASE("multigrid whose cycles gain nothing far above the floor stagnates there") {
    // a is lost in the diagonal: of the constant part of f nothing is ever solved.
    Setup setup({.width = 8, .a = 1e-30}, {.bottom_box = 4});
    setup.set_f([](const Index& c) { return std::cos(c[0]) + 0.25; });
    BottomOptions bottom;
    bottom.max_iterations = 5;
    const SolveReport report =
        Multigrid(setup.hierarchy, MultigridOptions{.max_cycles = 200}, bottom).solve();
    CHECK(report.outcome == Outcome::stagnated);
    CHECK(report.cycles < 60);
    CHECK(report.residuals.back() > 0.01);
}

TEST_CASE("the unscaled residual is that of the problem before it was scaled from the left") {
    for (const double b : {0.9, 0x1p-900, 0x1p900})
        for (const std::string name : {"cg", "bicgstab"}) {
            CAPTURE(b, name);
            Setup setup({.width = 4, .boundaries = dirichlet, .a = 0, .b = b, .beta = "ball1e6"});
            const Level& level = setup.finest();
            BottomOptions options;
            options.solver = name;
            options.tolerance = 1e-4;
            const auto visit = Multigrid(setup.hierarchy, {}, options).solve_bottom();
            CHECK(visit.met);
            const double unscaled = visit.unscaled_residual;
            const Whole f = setup.gather(level.f);
            const Whole r = residual_by_formula(setup.problem, setup.gather(level.u), f);
            CHECK(unscaled == Approx(setup.agreed(two_norm(r) / two_norm(f))).epsilon(1e-6));
            CHECK(visit.unscaled_met == (unscaled <= options.tolerance));
            if (name == "cg")
                CHECK(unscaled != Approx(visit.true_residual).epsilon(0.5));
            else
                CHECK(unscaled == visit.true_residual);
        }
}

TEST_CASE("multigrid stops at once when the right-hand side is not finite") {
    for (const double a : {0.9, 0.0})
        for (const double poison : {not_a_number, infinity, -infinity})
            for (const std::string name :
                 {"bicgstab", "bicgstab_fused", "cg", "ca_bicgstab", "ca_cg", "smooth"}) {
                CAPTURE(a, poison, name);
                Setup setup({.width = 8, .a = a});
                setup.set_f([&](const Index& c) { return c == Index{9, 3, 2} ? poison : std::cos(c[0]); });
                BottomOptions bottom;
                bottom.solver = name;
                const SolveReport report = Multigrid(setup.hierarchy, {}, bottom).solve();
                CHECK(report.outcome == Outcome::breakdown);
                CHECK(report.cycles <= 1);
            }
}

TEST_CASE("bottom solves that miss their tolerance are counted") {
    Setup setup({.width = 8, .beta = "smooth10"});
    BottomOptions bottom;
    bottom.max_iterations = 1;
    const SolveReport report = Multigrid(setup.hierarchy, {}, bottom).solve();
    CHECK(report.missed_bottoms() == static_cast<int>(report.visits.size()));
    CHECK(report.bottom_iterations() == static_cast<int>(report.visits.size()));
    for (const auto& visit : report.visits) CHECK(visit.outcome == Outcome::iteration_limit);
}

TEST_CASE("a singular problem whose right-hand side is constant has the solution zero") {
    // 0.1 is not its own rounded mean: what is left of f is noise, and the solution zero nevertheless.
    for (const double constant : {1.0, 0.1}) {
        CAPTURE(constant);
        Setup setup({.width = 8, .boundaries = neumann, .a = 0.0});
        setup.set_f([&](const Index&) { return constant; });
        const SolveReport report = Multigrid(setup.hierarchy, {}, {}).solve();
        CHECK(setup.agreed(max_norm(setup.gather(setup.finest().u))) < 1e-14);
        CHECK(report.converged());
        CHECK(report.cycles == 0);
    }
}

TEST_CASE("options that a method cannot have are refused") {
    OneLevel system(rough);
    for (const int depth : {0, -3}) CHECK_THROWS_AS(deep(depth)(system.A), std::invalid_argument);
    const Make newton = made("pipelined_s_step_cg", {.basis = Basis::newton});
    CHECK_THROWS_AS(newton(system.A), std::invalid_argument);
}
