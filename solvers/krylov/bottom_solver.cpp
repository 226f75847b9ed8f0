#include "solvers/krylov/bottom_solver.hpp"

#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "solvers/krylov/methods.hpp"
#include "solvers/krylov/stationary/spectrum_estimate.hpp"

namespace keel {
namespace {

// A in its natural norm: a solve on it tests and verifies sqrt(r . M r). Unscaled is the norm without M, in
// which all methods can be compared.
class InNaturalNorm : public WrappedSystem {
  public:
    InNaturalNorm(LinearSystem& A, Preconditioner& M) : WrappedSystem(A), M_(M), Mr_(A.make_vector()) {}

    Squares squares(Vector r) override {
        M_.apply(Mr_, r);
        const auto [natural, rr] = dots({{r, Mr_}, {r, r}});
        // M is positive definite: r . M r is zero for r = 0 alone.
        return {.own = natural > 0 || rr == 0.0 ? natural : HUGE_VAL, .unscaled = rr};
    }
    double norm(Vector x, double weight) override { return std::sqrt(weight * squares(x).own); }

  private:
    Preconditioner& M_;
    Vector Mr_;
};

void check_preconditioned(const BottomOptions& options, const Preconditioner& M) {
    const Method& method = method_named(options.solver);
    const bool makes_bases = method.degree.of(options) > 0;
    const bool symmetric = method.preconditioning == Preconditioning::symmetric;
    if (!method.accepts_preconditioner() || !method.tests(options.norm) || (symmetric && !M.symmetric()) ||
        (M.varies() && !method.flexible) || options.scaling != Scaling::none ||
        (makes_bases && (options.basis != Basis::monomial || exchanges_for_several(options.powers))))
        throw std::invalid_argument(options.solver + ": no such preconditioned method");
}

// L with M as the method's residuals and norms want them; null: as L is.
std::unique_ptr<LinearSystem> wrapped(LinearSystem& L, const BottomOptions& options, Preconditioner& M) {
    check_preconditioned(options, M);
    if (method_named(options.solver).preconditioning == Preconditioning::right)
        return std::make_unique<RightPreconditioned>(L, M,
                                                     static_cast<std::size_t>(vectors_at_once(options)));
    return options.norm == Norm::natural ? std::make_unique<InNaturalNorm>(L, M) : nullptr;
}

// The report on a solve without a preconditioner, since the quantity named vanished when it was made.
Report not_preconditioned(LinearSystem& L, Field u, const std::string& vanished) {
    L.fill(u, 0.0);
    Report report;
    report.outcome = report.breakdown(vanished.c_str());
    report.residuals.push_back(1.0);
    report.true_residual = report.unscaled_residual = 1.0;
    report.met = report.unscaled_met = false;
    return report;
}

}  // namespace

BottomSolver::BottomSolver(std::unique_ptr<ScaledSystem> L, const BottomOptions& options,
                           std::function<Spectrum()> bounds)
    : stop_{options.tolerance, options.max_iterations, options.max_restarts},
      options_(options),
      L_(std::move(L)),
      bounds_(std::move(bounds)),
      seen_(*L_),
      spectrum_(chosen_spectrum(options, bounds_())),
      method_(with_estimate(make_method({*L_, options, spectrum_}), *L_, nullptr, options)),
      own_(*L_),
      y_(L_->make_vector()),
      b_(L_->make_vector()) {}

BottomSolver::BottomSolver(std::unique_ptr<ScaledSystem> L, const BottomOptions& options, Preconditioner& M)
    : stop_{options.tolerance, options.max_iterations, options.max_restarts},
      options_(options),
      L_(std::move(L)),
      M_(&M),
      wrapped_(wrapped(*L_, options, M)),
      is_right_(method_named(options.solver).preconditioning == Preconditioning::right),
      seen_(wrapped_ ? *wrapped_ : *L_),
      spectrum_(chosen_spectrum(options, {0.0, 2.0})),
      method_(is_right_ ? make_method({seen_, options})
                        : with_estimate(
                              method_named(options.solver).make_preconditioned({*L_, options, spectrum_, &M}),
                              *L_, &M, options)),
      own_(seen_) {
    if (is_right_) y_ = seen_.make_vector();
}

void BottomSolver::update() {
    if (M_) return;  // neither scaled nor of a known spectrum
    L_->update();
    spectrum_ = chosen_spectrum(options_, bounds_());
    method_->adopt(spectrum_);
}

Report BottomSolver::solve(Field u, Field f) {
    if (M_ && !M_->vanished().empty()) return not_preconditioned(*L_, u, M_->vanished());
    if (!M_) L_->scale_right_side(b_, f);
    const Field x = M_ && !is_right_ ? u : y_;
    Report report = verify_and_restart(seen_, *method_, own_, x, M_ ? f : b_, stop_);
    if (!M_) L_->unscale_solution(u, y_);
    if (is_right_) M_->apply(u, y_);
    if (!report.spectrum) report.spectrum = spectrum_;
    return report;
}

}  // namespace keel
