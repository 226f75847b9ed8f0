#include "solvers/krylov/bottom_solver.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include "solvers/krylov/methods.hpp"
#include "solvers/krylov/single_launch/single_launch.hpp"

namespace keel {
namespace {

void check_preconditioned(const BottomOptions& options, const Preconditioner& M) {
    const Method& method = method_named(options.solver);
    const bool makes_bases = method.degree.of(options) > 0;
    const bool symmetric = method.preconditioning == Preconditioning::symmetric;
    if (!method.accepts_preconditioner() || !method.tests(options.norm) || (symmetric && !M.symmetric()) ||
        (M.varies() && !method.flexible) ||
        (M.precision() == Precision::fp32 && !method.accepts_single_precision()) ||
        options.scaling != Scaling::none ||
        (makes_bases && (exchanges_for_several(options.powers) ||
                         (symmetric && options.gram_precision == GramPrecision::twofold))))
        throw std::invalid_argument(options.solver + ": no such preconditioned method");
}

// Gives L the preconditioner as the method's residuals and norms want it. Returns whether it is a right one.
bool precondition(LinearSystem& L, const BottomOptions& options, Preconditioner& M) {
    check_preconditioned(options, M);
    const bool is_right = method_named(options.solver).preconditioning == Preconditioning::right;
    if (is_right)
        L.precondition_from_right(M);
    else if (options.norm == Norm::natural)
        L.take_natural_norm(M);
    return is_right;
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

BottomSolver::BottomSolver(std::unique_ptr<LinearSystem> L, const BottomOptions& options,
                           std::function<Spectrum()> bounds)
    : stop_{options.tolerance, options.max_iterations, options.max_restarts, options.norm == Norm::max},
      options_(options),
      L_(std::move(L)),
      bounds_(std::move(bounds)),
      spectrum_(chosen_spectrum(options, bounds_())),
      method_(make_method({*L_, options, spectrum_})),
      own_(*L_),
      y_(L_->make_vector()),
      b_(L_->make_vector()) {
    if (estimates(options, false))
        estimate_.emplace(*L_, nullptr, false);
    else
        launches_once_ = prepare_single_launch(*L_, options);
}

BottomSolver::BottomSolver(std::unique_ptr<LinearSystem> L, const BottomOptions& options, Preconditioner& M)
    : stop_{options.tolerance, options.max_iterations, options.max_restarts, false,
            M.precision() == Precision::fp32},
      options_(options),
      L_(std::move(L)),
      M_(&M),
      is_right_(precondition(*L_, options, M)),
      spectrum_(chosen_spectrum(options, {0.0, 2.0})),
      method_(is_right_ ? make_method({*L_, options, spectrum_})
                        : method_named(options.solver).make_preconditioned({*L_, options, spectrum_, &M})),
      own_(*L_) {
    if (estimates(options, true)) estimate_.emplace(*L_, &M, is_right_);
    if (is_right_) y_ = L_->make_vector();
}

int BottomSolver::vectors(const BottomOptions& options) {
    const Method& method = method_named(options.solver);
    int count = static_cast<int>(method.vectors.of(options)) + RestartVectors::count + 2;  // y, b
    if (estimates(options, false)) count += SpectrumEstimate::vectors;
    return count + (method.reads("splitting") ? 1 : 0);  // column numbers
}

void BottomSolver::update() {
    if (M_) return;  // neither scaled nor of a known spectrum
    L_->update();
    spectrum_ = chosen_spectrum(options_, bounds_());
    method_->adopt(spectrum_);
    estimated_ = false;
}

void BottomSolver::begin(Field u, Field f) {
    if (launches_once_)
        begin_single_launch(*L_, {.method = method_named(options_.solver).launched,
                                  .u = u,
                                  .f = f,
                                  .stop = stop_,
                                  .lowest = spectrum_.lowest,
                                  .highest = spectrum_.highest,
                                  .by_host = [this, u, f] { report_ = solve_by_host(u, f); }});
    else
        report_ = solve_by_host(u, f);
}

Report BottomSolver::finish() {
    if (!launches_once_) return std::move(report_);
    std::optional<Report> launched = finish_single_launch(*L_);
    Report report = launched ? std::move(*launched) : std::move(report_);
    report.spectrum = spectrum_;
    return report;
}

Outcome BottomSolver::iterate(const Run& run, Report& report) {
    if (estimate_ && !std::exchange(estimated_, true))
        if (const std::optional<Spectrum> found = estimate_->of(run.r)) method_->adopt(spectrum_ = *found);
    return method_->iterate(run, report);
}

Report BottomSolver::solve_by_host(Field u, Field f) {
    if (M_ && !M_->vanished().empty()) return not_preconditioned(*L_, u, M_->vanished());
    if (!M_) L_->scale_right_side(b_, f);
    const Field x = M_ && !is_right_ ? u : y_;
    Report report = verify_and_restart(*L_, *this, own_, x, M_ ? f : b_, stop_);
    if (!M_) L_->unscale_solution(u, y_);
    if (is_right_) M_->apply(u, y_);
    if (uses_spectrum(options_)) report.spectrum = spectrum_;
    return report;
}

}  // namespace keel
