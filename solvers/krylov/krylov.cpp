#include "solvers/krylov/krylov.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "solvers/krylov/stationary/spectrum_estimate.hpp"

namespace keel {

bool unusable(double value) {
    return value == 0.0 || !std::isfinite(value);
}

Solver::Solver(LinearSystem& A, std::unique_ptr<KrylovMethod> method)
    : Solver(A, std::move(method), nullptr) {}
Solver::Solver(LinearSystem& A, std::unique_ptr<KrylovMethod> method,
               std::unique_ptr<SpectrumEstimate> estimate)
    : A_(A),
      method_(std::move(method)),
      estimate_(std::move(estimate)),
      r_(A.make_vector()),
      best_(A.make_vector()) {}
Solver::~Solver() = default;

void Solver::update(const Spectrum& spectrum) {
    method_->adopt(spectrum);
    asked_ = false;
    estimated_.reset();
}

LinearSystem::Squares Solver::verify(double scale, LinearSystem::Vector b, LinearSystem::Vector x) {
    A_.apply(r_, x);
    A_.axpby(r_, scale, b, -1, r_);
    return A_.squares(r_);
}

Report Solver::solve(LinearSystem::Vector x, LinearSystem::Vector b, const Stop& stop) {
    const Counts before = A_.counts();
    Report report;
    report.residuals.reserve(static_cast<std::size_t>(std::min(stop.limit, 4096)) + 1);
    report.residuals.push_back(1.0);
    A_.fill(x, 0.0);
    A_.fill(best_, 0.0);
    LinearSystem::Squares rr = A_.squares(b);
    const double scale = safe(rr.own) ? 1.0 : A_.unit(b);  // of b, and so of x and r
    A_.combine(r_, std::array{scale}, std::array{b});
    if (scale != 1.0) rr = A_.squares(r_);
    const LinearSystem::Squares bb = rr;
    const double norm_b = std::sqrt(bb.own);
    const double target = stop.tolerance * norm_b;
    double least = norm_b;                               // the true residual of best_
    std::optional<double> least_unscaled = bb.unscaled;  // its square

    if (!std::isfinite(bb.own)) {  // nor is b: no residual can be told
        report.outcome = report.breakdown("(b,b)");
        report.true_residual = report.unscaled_residual = std::numeric_limits<double>::infinity();
        report.met = report.unscaled_met = false;
        report.counts = A_.counts() - before;
        return report;
    }
    if (estimate_ && !asked_ && norm_b > 0.0) {
        asked_ = true;
        estimated_ = estimate_->of(r_);
        if (estimated_) method_->adopt(*estimated_);
    }
    report.spectrum = estimated_;
    while (least > target) {
        const int done = report.iterations;
        report.outcome = method_->iterate(
            {.x = x, .r = r_, .rr = rr.own, .target = target, .limit = stop.limit - done, .scale = norm_b},
            report);

        rr = verify(scale, b, x);
        const double norm_r = safe(rr.own) ? std::sqrt(rr.own) : A_.norm(r_);
        const double previous = least;
        if (norm_r < least) {
            A_.copy(best_, x);
            least = norm_r;
            least_unscaled = rr.unscaled;
        }
        if (least <= target) report.outcome = Outcome::converged;
        if (least <= target || report.iterations >= stop.limit) break;

        const bool stuck = report.iterations == done && !(least < previous);
        if (report.restarts == stop.max_restarts || stuck) {
            if (report.outcome == Outcome::converged) report.outcome = Outcome::stagnated;
            break;
        }
        ++report.restarts;
        if (!(norm_r <= 1e4 * previous)) {  // garbage, or not a number: discard the run
            A_.copy(x, best_);
            rr = verify(scale, b, x);
        }
    }
    A_.combine(x, std::array{1 / scale}, std::array{best_});
    if (scale != 1.0) {
        A_.residual(r_, b, x);
        least = A_.norm(r_) * scale;
        A_.combine(r_, std::array{scale}, std::array{r_});
        least_unscaled = A_.squares(r_).unscaled;
        if (least > target && report.outcome == Outcome::converged) report.outcome = report.breakdown("x");
    }
    if (report.iterations >= stop.limit && least > target) report.outcome = Outcome::iteration_limit;
    if (report.outcome != Outcome::breakdown) report.vanished.clear();
    report.true_residual = norm_b > 0.0 ? least / norm_b : 0.0;
    report.met = least <= target;
    report.unscaled_residual = report.true_residual;
    report.unscaled_met = report.met;
    if (bb.unscaled && *bb.unscaled > 0.0) {
        report.unscaled_residual = std::sqrt(*least_unscaled / *bb.unscaled);
        report.unscaled_met = report.unscaled_residual <= stop.tolerance;
    }
    report.counts = A_.counts() - before;
    return report;
}

}  // namespace keel
