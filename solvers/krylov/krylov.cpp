#include "solvers/krylov/krylov.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace keel {

bool unusable(double value) {
    return value == 0.0 || !std::isfinite(value);
}

namespace {

// The data that all runs of a method share, and the smallest true residual so far.
struct Solve {
    LinearSystem& A;
    const RestartVectors& own;
    LinearSystem::Vector x, b;
    const Stop& stop;
    double scale;                       // factor of b, and so of x and r
    LinearSystem::Squares bb;           // of the scaled b
    double norm_b = std::sqrt(bb.own);  // |b|
    double target = stop.tolerance * norm_b;
    double least = norm_b;                               // the true residual of own.best
    std::optional<double> least_unscaled = bb.unscaled;  // its square

    // own.r = scale b - A x, and its squares
    LinearSystem::Squares verify() {
        A.apply(own.r, x);
        A.axpby(own.r, scale, b, -1, own.r);
        return A.squares(own.r);
    }
};

// Runs the method until a true residual meets the target, or it may or can go on no longer.
void run_until_met(Solve& solve, KrylovMethod& method, Report& report) {
    auto& [A, own, x, b, stop, scale, bb, norm_b, target, least, least_unscaled] = solve;
    LinearSystem::Squares rr = bb;
    while (least > target) {
        const int done = report.iterations;
        report.outcome = method.iterate(
            {.x = x, .r = own.r, .rr = rr.own, .target = target, .limit = stop.limit - done, .scale = norm_b},
            report);

        rr = solve.verify();
        const double norm_r = safe(rr.own) ? std::sqrt(rr.own) : A.norm(own.r);
        const double previous = least;
        if (norm_r < least) {
            A.copy(own.best, x);
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
            A.copy(x, own.best);
            rr = solve.verify();
        }
    }
}

// x = that of the smallest true residual, and the verdict on it.
void conclude(Solve& solve, Report& report) {
    auto& [A, own, x, b, stop, scale, bb, norm_b, target, least, least_unscaled] = solve;
    A.combine(x, std::array{1 / scale}, std::array{own.best});
    if (scale != 1.0) {
        A.residual(own.r, b, x);
        least = A.norm(own.r) * scale;
        A.combine(own.r, std::array{scale}, std::array{own.r});
        least_unscaled = A.squares(own.r).unscaled;
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
}

}  // namespace

Report verify_and_restart(LinearSystem& A, KrylovMethod& method, const RestartVectors& own,
                          LinearSystem::Vector x, LinearSystem::Vector b, const Stop& stop) {
    const Counts before = A.counts();
    Report report;
    report.residuals.reserve(static_cast<std::size_t>(std::min(stop.limit, 4096)) + 1);
    report.residuals.push_back(1.0);
    A.fill(x, 0.0);
    A.fill(own.best, 0.0);
    LinearSystem::Squares bb = A.squares(b);
    const double scale = safe(bb.own) ? 1.0 : A.unit(b);
    A.combine(own.r, std::array{scale}, std::array{b});
    if (scale != 1.0) bb = A.squares(own.r);
    if (std::isfinite(bb.own)) {
        Solve solve{.A = A, .own = own, .x = x, .b = b, .stop = stop, .scale = scale, .bb = bb};
        run_until_met(solve, method, report);
        conclude(solve, report);
    } else {  // nor is b finite: no residual is known
        report.outcome = report.breakdown("(b,b)");
        report.true_residual = report.unscaled_residual = std::numeric_limits<double>::infinity();
        report.met = report.unscaled_met = false;
    }
    report.counts = A.counts() - before;
    return report;
}

}  // namespace keel
