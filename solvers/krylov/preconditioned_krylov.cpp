#include "solvers/krylov/preconditioned_krylov.hpp"

#include <cmath>
#include <optional>
#include <stdexcept>
#include <utility>

#include "solvers/krylov/methods.hpp"
#include "solvers/krylov/stationary/spectrum_estimate.hpp"

namespace keel {
namespace {

// A's natural norm in place of its own: what a solver on it tests and verifies is sqrt(r . M r). The norm
// without M is the one that all methods can be compared in.
class InNaturalNorm : public WrappedSystem {
  public:
    InNaturalNorm(LinearSystem& A, Preconditioner& M) : WrappedSystem(A), M_(M), Mr_(A.make_vector()) {}

    Squares squares(Vector r) override {
        M_.apply(Mr_, r);
        const auto [natural, rr] = dots({{r, Mr_}, {r, r}});
        // M is positive definite: of what is not zero neither is this.
        return {.own = natural > 0 || rr == 0.0 ? natural : HUGE_VAL, .unscaled = rr};
    }
    double norm(Vector x, double weight) override { return std::sqrt(weight * squares(x).own); }

  private:
    Preconditioner& M_;
    Vector Mr_;
};

// Solves L M y = f, or L u = f with a method that has a preconditioned form of its own, where y is u.
class PreconditionedKrylov : public KrylovSolver {
  public:
    PreconditionedKrylov(std::unique_ptr<LinearSystem> L, const BottomOptions& options, Preconditioner& M)
        : stop_{options.tolerance, options.max_iterations, options.max_restarts},
          owned_(std::move(L)),
          L_(*owned_),
          M_(M),
          spectrum_(chosen_spectrum(options, {0.0, 2.0})) {
        const Method& method = method_named(options.solver);
        if (method.preconditioning == Preconditioning::symmetric) {
            if (options.norm == Norm::natural) natural_.emplace(L_, M);
            LinearSystem& tested = natural_ ? static_cast<LinearSystem&>(*natural_) : L_;
            solver_ = std::make_unique<Solver>(tested, method.make_preconditioned(L_, M, options, spectrum_),
                                               make_estimate(L_, &M, options));
            return;
        }
        LM_.emplace(L_, M, static_cast<std::size_t>(vectors_at_once(options)));
        solver_ = std::make_unique<Solver>(*LM_, make_method(options, *LM_, {}));
        y_ = LM_->make_vector();
    }

    void update() override {}  // unscaled, and of no known spectrum

    Report solve(Field u, Field f) override {
        if (const std::string vanished = M_.vanished(); !vanished.empty()) return unsolved(L_, u, vanished);
        Report report = solver_->solve(LM_ ? y_ : u, f, stop_);
        if (LM_) LM_->recover(u, y_);
        if (!report.spectrum) report.spectrum = spectrum_;
        return report;
    }

  private:
    Stop stop_;
    std::unique_ptr<LinearSystem> owned_;
    LinearSystem& L_;
    Preconditioner& M_;
    Spectrum spectrum_;
    std::optional<InNaturalNorm> natural_;
    std::optional<RightPreconditioned> LM_;
    std::unique_ptr<Solver> solver_;
    Field y_;
};

}  // namespace

Report unsolved(LinearSystem& L, Field u, const std::string& vanished) {
    L.fill(u, 0.0);
    Report report;
    report.outcome = report.breakdown(vanished.c_str());
    report.residuals.push_back(1.0);
    report.true_residual = report.unscaled_residual = 1.0;
    report.met = report.unscaled_met = false;
    return report;
}

std::unique_ptr<KrylovSolver> make_preconditioned_krylov(std::unique_ptr<LinearSystem> L,
                                                         const BottomOptions& options, Preconditioner& M) {
    const Method& method = method_named(options.solver);
    const bool makes_bases = method.degree.of(options) > 0;
    const bool symmetric = method.preconditioning == Preconditioning::symmetric;
    const bool orthomin = method.reads("variant") && options.variant == Enlarged::orthomin;
    if (!method.accepts_preconditioner() || !method.tests(options.norm) || (symmetric && !M.symmetric()) ||
        (M.varies() && !method.flexible) || orthomin || options.scaling != Scaling::none ||
        (makes_bases && (options.basis != Basis::monomial || options.powers == Powers::matrix_powers)))
        throw std::invalid_argument(options.solver + ": no such preconditioned method");
    return std::make_unique<PreconditionedKrylov>(std::move(L), options, M);
}

}  // namespace keel
