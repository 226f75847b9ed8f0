// GMRES, also s steps at a time, and the forms of Arnoldi's relation: the relation itself, SciPy's histories,
// preconditioners that vary, and ends of solves.

#include <catch2/catch.hpp>

#include "solvers/krylov/gmres/arnoldi.hpp"
#include "solvers/systems/preconditioners/preconditioner.hpp"
#include "tests/solvers/golden_file.hpp"
#include "tests/solvers/krylov/one_level.hpp"

using namespace keel;
using namespace keel::test;

namespace {

std::vector<BottomOptions> forms(int restart) {
    std::vector<BottomOptions> all;
    for (const auto form : {Orthogonalisation::mgs, Orthogonalisation::cgs2, Orthogonalisation::icwy,
                            Orthogonalisation::delayed})
        all.push_back({.solver = "gmres", .restart = restart, .orthogonalisation = form});
    for (const auto& [s, basis] : {std::pair{1, Basis::monomial}, {7, Basis::monomial}, {13, Basis::newton}})
        all.push_back({.solver = "ca_gmres", .s = s, .basis = basis, .restart = restart});
    return all;
}
BottomOptions any_form(int restart) {
    return forms(restart)[GENERATE(range(std::size_t{0}, std::size_t{7}))];
}
std::string text(const BottomOptions& o) {
    return o.solver + (o.solver == "gmres" ? name(o.orthogonalisation) : name(o.basis) + std::to_string(o.s));
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

}  // namespace

TEST_CASE("in every form A M V = V H, and V is as orthogonal as the form makes it") {
    constexpr int most = 40;
    const BottomOptions options = any_form(most);
    enum class With { none, fixed, varying };
    const With with = GENERATE(With::none, With::fixed, With::varying);
    CAPTURE(text(options), static_cast<int>(with));
    const bool panels = options.solver == "ca_gmres";
    if (panels && with == With::varying) return;  // refused
    OneLevel system(rough);
    LinearSystem& A = system.A;
    Diagonal M(system.level, with == With::varying);
    // D^-1 A has eigenvalues up to 2, this A about as many times more as D^-1 is less than 1.
    const MethodSetup setup{
        A, options, {0, with == With::fixed ? 2.0 : 5000.0}, with == With::none ? nullptr : &M};
    const auto V = panels ? make_panels(setup) : make_arnoldi(setup);
    A.scale_right_side(system.b, system.level.f);
    V->begin(system.b, A.norm(system.b));
    for (int step = 0; step < most && V->known() < most; ++step) V->extend();
    if (V->known() < most || V->settled() < most) V->conclude();
    REQUIRE(V->known() == most);
    REQUIRE(V->settled() == most);

    std::vector<Field> v;
    for (std::size_t k = 0; k <= most; ++k) {
        std::vector<double> y(k + 1);
        y[k] = 1;
        V->form(v.emplace_back(A.make_vector()), y);
    }
    double largest = 0;
    for (std::size_t i = 0; i <= most; ++i)
        for (std::size_t j = 0; j <= i; ++j)
            largest = std::max(largest, std::abs(A.dot(v[i], v[j]) - (i == j ? 1.0 : 0.0)));
    // One pass leaves what the condition of the basis says; the others reorthogonalise.
    const auto form = options.orthogonalisation;
    const bool once = !panels && (form == Orthogonalisation::mgs || form == Orthogonalisation::icwy);
    CHECK(largest < (once ? 1e-5 : 1e-14));
    CHECK((largest > 1e-12) == once);

    // A x with x = M v_k, less V times column k of H.
    const Field x = A.make_vector(), Ax = A.make_vector();
    double worst = 0, scale = 0;
    for (std::size_t k = 0; k + 1 < most; k += 7) {
        std::vector<double> y(most);
        y[k] = 1;
        const auto h = V->column(k);
        A.fill(x, 0.0);
        V->correct(x, y);
        A.apply(Ax, x);
        for (std::size_t i = 0; i < h.size(); ++i) {
            worst = std::max(worst, std::abs(A.dot(v[i], Ax) - h[i]));
            A.axpby(Ax, 1, Ax, -h[i], v[i]);
        }
        worst = std::max(worst, A.norm(Ax));
        scale = std::max(scale, std::abs(h[k]));
    }
    // The largest entry is in it; it uses the basis up.
    const double lost = V->orthogonality();
    CHECK((lost > 1e-11) == once);
    CHECK(lost < (once ? 1e-4 : 1e-13));
    CHECK(worst < (panels ? 1e-9 : 1e-11) * scale);
}

TEST_CASE("GMRES has SciPy's histories in every form", "[golden]") {
    constexpr int m = 2;
    const auto file = golden("gmres.json");
    const double tolerance = file.at("tol");
    for (const auto& json : in_turns(file.at("cases")))
        for (const BottomOptions& form : forms(json.at("restart"))) {
            INFO(json.at("problem").dump() << ", restart " << json.at("restart") << ", " << text(form));
            const bool scaled = json.at("problem").value("jacobi", 0) == 1;
            OneLevel system(problem_of(json.at("problem"), m),
                            scaled ? DiagonalScaling::right : DiagonalScaling::none);
            const Spectrum spectrum{0, scaled ? 2.0 : 9000.0};
            const Report report = system.solve(made(form.solver, form, spectrum), {tolerance, 2000, 8});
            CHECK(report.met);
            CHECK(system.residual() <= 1.001 * tolerance);
            const auto history = json.at("hist").get<std::vector<double>>();
            CHECK(std::abs(report.iterations - json.at("its").get<int>()) <= 1);
            for (std::size_t k = 0; k + 1 < std::min(history.size(), report.residuals.size()); ++k) {
                CAPTURE(k);
                CHECK(report.residuals[k + 1] <= report.residuals[k] * (1 + 1e-12));
                // A restart adds the rounding of two ways to form its residual, a panel its condition.
                const bool restarted = k >= json.at("restart").get<std::size_t>();
                const bool panels = form.solver == "ca_gmres";
                const double whole = panels ? 1e-4 : 1e-6, late = panels ? 0.4 : 2e-2;
                CHECK(report.residuals[k + 1] == Approx(history[k]).epsilon(restarted ? late : whole));
            }
        }
}

TEST_CASE("GMRES takes a preconditioner that is another each time, and claims what is true") {
    const BottomOptions options = any_form(12);
    const bool varies = GENERATE(false, true);
    CAPTURE(text(options), varies);
    OneLevel system(rough);
    Diagonal M(system.level, varies);
    const Method& method = method_named(options.solver);
    if (varies && !method.flexible) return;
    const Make make = [&](LinearSystem& A) { return method.make_preconditioned({A, options, {0, 2}, &M}); };
    const Report report = system.solve(make, {1e-7, 1000, 8});
    CHECK(report.outcome == Outcome::converged);
    CHECK(report.restarts == 0);
    CHECK(report.iterations > 24);
    CHECK(report.true_residual == Approx(report.residuals.back()).epsilon(1e-5));
    CHECK(system.residual() <= 1.001e-7);
}

TEST_CASE("GMRES claims no solution of a singular system whose right-hand side is outside its range") {
    const BottomOptions options = any_form(20);
    CAPTURE(text(options));
    const Make make = made(options.solver, options, {0, 100});
    // A singular system whose right-hand side is partly outside its range.
    OneLevel singular({.boxes = {2, 2, 2}, .width = 4, .a = 0.0});
    singular.setup.set(singular.level.f, [](const Index&) { return 1.0; });
    const Report none = singular.solve(make, {1e-8, 50, 2});
    CHECK_FALSE(none.met);
    CHECK(none.true_residual <= 1.0);
}
