#include "solvers/krylov/krylov.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace keel {

bool unusable(double value) {
    return value == 0.0 || !std::isfinite(value);
}

Solver::Solver(LinearSystem& A, std::unique_ptr<KrylovMethod> method)
    : A_(A), method_(std::move(method)), r_(A.make_vector()), best_(A.make_vector()) {}

Report Solver::solve(LinearSystem::Vector x, LinearSystem::Vector b, const Stop& stop) {
    const Counts before = A_.counts();
    Report report;
    report.residuals.reserve(static_cast<std::size_t>(std::min(stop.limit, 4096)) + 1);
    report.residuals.push_back(1.0);
    A_.fill(x, 0.0);
    A_.fill(best_, 0.0);
    A_.copy(r_, b);
    double rr = A_.dot(b, b);
    const double norm_b = std::sqrt(rr);
    const double target = stop.tolerance * norm_b;
    double least = norm_b;  // the true residual of best_

    if (!std::isfinite(rr)) {  // b is not, or its square overflows: no residual can be told
        report.outcome = report.breakdown("(b,b)");
        report.true_residual = std::numeric_limits<double>::infinity();
        report.met = false;
        report.counts = A_.counts() - before;
        return report;
    }
    while (least > target) {
        const int done = report.iterations;
        report.outcome = method_->iterate(
            {.x = x, .r = r_, .rr = rr, .target = target, .limit = stop.limit - done, .scale = norm_b},
            report);

        A_.residual(r_, b, x);  // verify
        rr = A_.dot(r_, r_);
        const double previous = least;
        if (std::sqrt(rr) < least) {
            A_.copy(best_, x);
            least = std::sqrt(rr);
        }
        if (least <= target) report.outcome = Outcome::converged;
        if (least <= target || report.iterations >= stop.limit) break;

        const bool stuck = report.iterations == done && !(least < previous);
        if (report.restarts == stop.max_restarts || stuck) {
            if (report.outcome == Outcome::converged) report.outcome = Outcome::stagnated;
            break;
        }
        ++report.restarts;
        if (!(std::sqrt(rr) <= 1e4 * previous)) {  // garbage, or not a number: discard the run
            A_.copy(x, best_);
            A_.residual(r_, b, x);
            rr = A_.dot(r_, r_);
        }
    }
    A_.copy(x, best_);
    if (report.iterations >= stop.limit && least > target) report.outcome = Outcome::iteration_limit;
    if (report.outcome != Outcome::breakdown) report.vanished.clear();
    report.true_residual = norm_b > 0.0 ? least / norm_b : 0.0;
    report.met = least <= target;
    report.counts = A_.counts() - before;
    return report;
}

}  // namespace keel
