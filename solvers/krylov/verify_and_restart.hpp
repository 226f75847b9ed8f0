#pragma once

#include <cmath>
#include <limits>
#include <optional>

#include "kernels/bodies/norms.hpp"
#include "solvers/krylov/run.hpp"

namespace keel::krylov {

// The squares of what is tested: those of 2-norms, or of max|r|.
template <class System, class Vector = typename System::Vector>
constexpr Squares tested_squares(System& A, Vector r, bool by_max) {
    if (!by_max) return A.squares(r);
    const double largest = A.max_norm(r);
    return {largest * largest, {}};
}

// A solve of A x = b by several runs of a method, and the smallest true residual so far.
template <class System>
struct VerifiedSolve {
    using Vector = typename System::Vector;

    System& A;
    Vector r, best;  // a true residual, and the x of the smallest one so far
    Vector x, b;
    Stop stop;
    double scale;                       // factor of b, and so of x and r
    Squares bb;                         // of the scaled b
    double norm_b = std::sqrt(bb.own);  // |b|
    double target = stop.tolerance * norm_b;
    double least = norm_b;                               // the true residual of `best`
    std::optional<double> least_unscaled = bb.unscaled;  // its square

    // r = scale b - A x, and its squares
    constexpr Squares verify() {
        A.apply(r, x);
        A.axpby(r, scale, b, -1, r);
        return tested_squares(A, r, stop.by_max);
    }

    // Runs the method until a true residual meets the target, or it may or can go on no longer.
    template <class Method, class Report>
    constexpr void run_until_met(Method& method, Report& report) {
        Squares rr = bb;
        while (least > target) {
            const int done = report.iterations;
            const double square = stop.by_max ? A.dot(r, r) : rr.own;
            const KrylovRun<Vector> run{x, r, square, target, stop.limit - done, norm_b};
            report.outcome = method.iterate(run, report);

            rr = verify();
            const double norm_r = safe(rr.own) ? std::sqrt(rr.own) : A.norm(r);
            const double previous = least;
            if (norm_r < least) {
                A.copy(best, x);
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
                A.copy(x, best);
                rr = verify();
            }
        }
    }

    // x = that of the smallest true residual, and the verdict on it.
    template <class Report>
    constexpr void conclude(Report& report) {
        A.combine(x, {1 / scale}, {best});
        if (scale != 1.0) {
            A.residual(r, b, x);
            A.combine(r, {scale}, {r});
            least = A.norm(r);
            least_unscaled = A.squares(r).unscaled;
            if (least > target && report.outcome == Outcome::converged)
                report.outcome = report.breakdown(Vanished::x);
        }
        if (report.iterations >= stop.limit && least > target) report.outcome = Outcome::iteration_limit;
        if (report.outcome != Outcome::breakdown) report.vanished = {};
        report.true_residual = norm_b > 0.0 ? least / norm_b : 0.0;
        report.met = least <= target;
        report.unscaled_residual = report.true_residual;
        report.unscaled_met = report.met;
        if (bb.unscaled && *bb.unscaled > 0.0) {
            report.unscaled_residual = std::sqrt(*least_unscaled / *bb.unscaled);
            report.unscaled_met = report.unscaled_residual <= stop.tolerance;
        }
    }
};

// The verify-and-restart rule (krylov.hpp). r and best: vectors of the caller.
template <class System, class Method, class Report, class Vector = typename System::Vector>
constexpr void verify_and_restart(System& A, Method& method, Vector r, Vector best, Vector x, Vector b,
                                  const Stop& stop, Report& report) {
    report.residuals.push_back(1.0);
    A.fill(x, 0.0);
    A.fill(best, 0.0);
    const double unit = stop.single ? A.unit(b) : 1.0;
    const bool fits = unit > 0x1p-30 && unit < 0x1p30;
    A.combine(r, {fits ? 1.0 : unit}, {b});
    Squares bb = tested_squares(A, r, stop.by_max);
    double scale = fits ? 1.0 : unit;
    if (fits && !safe(bb.own)) {
        scale = A.unit(b);
        A.combine(r, {scale}, {b});
        if (scale != 1.0) bb = tested_squares(A, r, stop.by_max);
    }
    if (std::isfinite(bb.own)) {
        VerifiedSolve<System> solve{A, r, best, x, b, stop, scale, bb};
        solve.run_until_met(method, report);
        solve.conclude(report);
    } else {  // nor is b finite: no residual is known
        report.outcome = report.breakdown(Vanished::b_b);
        report.true_residual = report.unscaled_residual = std::numeric_limits<double>::infinity();
        report.met = report.unscaled_met = false;
    }
}

}  // namespace keel::krylov
