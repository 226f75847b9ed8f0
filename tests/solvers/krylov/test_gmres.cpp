// GMRES and the forms of Arnoldi's relation: the relation itself, SciPy's histories, preconditioners that
// vary, and ends of solves.

#include <catch2/catch.hpp>

#include "solvers/krylov/gmres/arnoldi.hpp"
#include "solvers/systems/preconditioners/preconditioner.hpp"
#include "tests/solvers/golden_file.hpp"
#include "tests/solvers/krylov/one_level.hpp"

using namespace keel;
using namespace keel::test;

namespace {

constexpr Orthogonalisation forms[] = {Orthogonalisation::mgs, Orthogonalisation::cgs2,
                                       Orthogonalisation::icwy, Orthogonalisation::delayed};

Orthogonalisation any_form() {
    return GENERATE(Orthogonalisation::mgs, Orthogonalisation::cgs2, Orthogonalisation::icwy,
                    Orthogonalisation::delayed);
}

// D^-1 or, if it varies, D^-2 and so on in turns, whatever it is applied to.
class Diagonal : public Preconditioner {
  public:
    Diagonal(Level& level, bool varies) : level_(level), varies_(varies) {}
    bool symmetric() const override { return false; }
    bool varies() const override { return varies_; }

  private:
    void multiply(Vector z, Vector r) override {
        level_.operations.multiply(z, level_.L.inverse_diagonal, r);
        if (!varies_ || applications() % 3 == 0) return;
        level_.operations.multiply(z, level_.L.inverse_diagonal, z);
        level_.operations.scale(z, 1000.0, z);
    }

    Level& level_;
    bool varies_;
};

BottomOptions options_of(Orthogonalisation form, int restart) {
    return {.restart = restart, .orthogonalisation = form};
}

}  // namespace

TEST_CASE("in every form A M V = V H, and V is as orthogonal as the form makes it") {
    const auto form = any_form();
    enum class With { none, fixed, varying };
    const With with = GENERATE(With::none, With::fixed, With::varying);
    CAPTURE(name(form), static_cast<int>(with));
    constexpr int most = 40;
    OneLevel system(rough);
    LinearSystem& A = system.A;
    Diagonal M(system.level, with == With::varying);
    const auto V = make_arnoldi({A, options_of(form, most), {}, with == With::none ? nullptr : &M});
    A.scale_right_side(system.b, system.level.f);
    V->begin(system.b, A.norm(system.b));
    for (int k = 0; k < most; ++k) V->extend();
    V->conclude();
    REQUIRE(V->known() == most);

    const auto v = V->basis();
    double largest = 0;
    for (std::size_t i = 0; i <= most; ++i)
        for (std::size_t j = 0; j <= i; ++j)
            largest = std::max(largest, std::abs(A.dot(v[i], v[j]) - (i == j ? 1.0 : 0.0)));
    // One pass leaves what the condition of the basis says; the others reorthogonalise.
    const bool once = form == Orthogonalisation::mgs || form == Orthogonalisation::icwy;
    CHECK(largest < (once ? 1e-5 : 1e-14));
    CHECK((largest > 1e-12) == once);

    // A x with x = M v_k, less V times column k of H.
    const Field x = A.make_vector(), Ax = A.make_vector();
    double worst = 0, scale = 0;
    for (std::size_t k = 0; k + 1 < most; k += 7) {
        // correct() takes the last column of V for room where M is fixed.
        std::vector<double> y(most);
        y[k] = 1;
        const auto h = V->column(k);
        A.fill(x, 0.0);
        if (with == With::fixed)
            M.apply(x, v[k]);
        else
            V->correct(x, y);
        A.apply(Ax, x);
        for (std::size_t i = 0; i < h.size(); ++i) {
            worst = std::max(worst, std::abs(A.dot(v[i], Ax) - h[i]));
            A.axpby(Ax, 1, Ax, -h[i], v[i]);
        }
        worst = std::max(worst, A.norm(Ax));
        scale = std::max(scale, std::abs(h[k]));
    }
    CHECK(worst < 1e-11 * scale);
}

TEST_CASE("GMRES has SciPy's histories in every form", "[golden]") {
    constexpr int m = 2;
    const auto file = golden("gmres.json");
    const double tolerance = file.at("tol");
    for (const auto& json : in_turns(file.at("cases")))
        for (const Orthogonalisation form : forms) {
            INFO(json.at("problem").dump() << ", restart " << json.at("restart") << ", " << name(form));
            const bool scaled = json.at("problem").value("jacobi", 0) == 1;
            OneLevel system(problem_of(json.at("problem"), m),
                            scaled ? DiagonalScaling::right : DiagonalScaling::none);
            const Report report =
                system.solve(made("gmres", options_of(form, json.at("restart"))), {tolerance, 2000, 8});
            CHECK(report.met);
            CHECK(system.residual() <= 1.001 * tolerance);
            const auto history = json.at("hist").get<std::vector<double>>();
            CHECK(std::abs(report.iterations - json.at("its").get<int>()) <= 1);
            for (std::size_t k = 0; k + 1 < std::min(history.size(), report.residuals.size()); ++k) {
                CAPTURE(k);
                CHECK(report.residuals[k + 1] <= report.residuals[k] * (1 + 1e-12));
                // A restart adds the rounding of two ways to form its residual.
                const bool restarted = k >= json.at("restart").get<std::size_t>();
                CHECK(report.residuals[k + 1] == Approx(history[k]).epsilon(restarted ? 2e-2 : 1e-6));
            }
        }
}

TEST_CASE("GMRES takes a preconditioner that is another each time, and claims what is true") {
    const auto form = any_form();
    const bool varies = GENERATE(false, true);
    CAPTURE(name(form), varies);
    OneLevel system(rough);
    Diagonal M(system.level, varies);
    const BottomOptions options = options_of(form, 12);
    const Make make = [&](LinearSystem& A) {
        return method_named("gmres").make_preconditioned({A, options, {}, &M});
    };
    const Report report = system.solve(make, {1e-7, 1000, 8});
    CHECK(report.outcome == Outcome::converged);
    CHECK(report.restarts == 0);
    CHECK(report.iterations > 24);
    CHECK(report.true_residual == Approx(report.residuals.back()).epsilon(1e-5));
    CHECK(system.residual() <= 1.001e-7);
}

TEST_CASE("GMRES ends where the Krylov space does, with the solution or with a breakdown") {
    const auto form = any_form();
    CAPTURE(name(form));
    const Make make = made("gmres", options_of(form, 20));
    // A right-hand side that is an eigenvector: the first iteration is exact.
    OneLevel wave({.boxes = {2, 2, 2}, .width = 4});
    wave.setup.set(wave.level.f,
                   [&](const Index& c) { return std::cos(two_pi * wave.setup.problem.centre(c)[0]); });
    const Report one = wave.solve(make, {1e-12, 100, 8});
    CHECK(one.outcome == Outcome::converged);
    CHECK(one.iterations == 1);
    // A singular system whose right-hand side is partly outside its range.
    OneLevel singular({.boxes = {2, 2, 2}, .width = 4, .a = 0.0});
    singular.setup.set(singular.level.f, [](const Index&) { return 1.0; });
    const Report none = singular.solve(make, {1e-8, 50, 2});
    CHECK_FALSE(none.met);
    CHECK(none.true_residual <= 1.0);
    // Nothing to solve.
    OneLevel zero(rough);
    zero.setup.set(zero.level.f, [](const Index&) { return 0.0; });
    CHECK(zero.solve(make, {1e-8, 50, 2}).iterations == 0);
}
