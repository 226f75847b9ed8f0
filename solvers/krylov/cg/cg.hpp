#pragma once

// Conjugate gradients: Hestenes and Stiefel 1952, as Saad, Iterative Methods for Sparse Linear Systems,
// 2nd ed., Alg. 6.18. A must be symmetric and positive definite (semi-definite with b in its range).
//
// Per iteration: 1 application (1 exchange), 2 all-reduces of 1 word (norm = max: 3). Vectors: p, Ap besides
// x and r. F_A + 13 flops per cell.

#include "solvers/krylov/run.hpp"

namespace keel::krylov {

// `by_max`: max|r| is tested, by an all-reduce more.
template <class System, class Report, class Vector = typename System::Vector>
constexpr Outcome cg(System& A, const KrylovRun<Vector>& run, Report& report, Vector p, Vector Ap,
                     bool by_max = false) {
    const auto& [x, r, rr_start, target, limit, scale] = run;
    A.copy(p, r);  // 1
    double rr = rr_start;
    for (int j = 0; j < limit; ++j) {  // 2
        A.apply(Ap, p);
        const double pAp = A.dot(Ap, p);
        const double alpha = rr / pAp;  // 3
        if (unusable(alpha) || pAp < 0) return report.breakdown(Vanished::p_Ap);
        A.axpby(x, 1, x, alpha, p);    // 4
        A.axpby(r, 1, r, -alpha, Ap);  // 5
        ++report.iterations;
        const double next = A.dot(r, r);
        const double norm_r = by_max ? A.max_norm(r) : std::sqrt(next);
        report.residuals.push_back(norm_r / scale);
        if (norm_r <= target) return Outcome::converged;
        if (!std::isfinite(next)) return report.breakdown(Vanished::r_r);
        const double beta = next / rr;  // 6
        A.axpby(p, 1, r, beta, p);      // 7
        rr = next;
    }
    return Outcome::iteration_limit;
}

}  // namespace keel::krylov
