#pragma once

// Chebyshev's iteration without an all-reduce: Saad, Iterative Methods for Sparse Linear Systems, 2nd ed.,
// Alg. 12.1, whose step numbers are in the margin. The eigenvalues of A must lie in [lowest, highest], lowest
// above 0.
//
// The residual after k steps is T_k(Z) r / T_k(sigma), Z = (theta - A) / delta, so that |r_k| <= |r| /
// T_k(sigma): the number of steps is known before the first, and nothing is measured on the way. What is
// reported of each step is that bound; the solver's verification, one all-reduce, tells whether it was true.
// With an interval that is too short, as an estimated one may be, it is not, and the solver restarts; the
// parts outside it are damped less.
//
// Per iteration: 1 application (1 exchange), no all-reduce. Vectors: d, Ad besides x and r. F_A + 9 flops per
// cell.
// Weakness: as many steps as the interval asks for, whatever the right-hand side has of it. To 1e-2,
// Poisson's equation under Dirichlet's condition: 7 steps on 4^3 cells, 14 on 8^3, 27 on 16^3, where CG takes
// 4, 3 and 4 of two all-reduces.

#include "solvers/krylov/run.hpp"

namespace keel::krylov {

template <class System, class Report, class Vector = typename System::Vector>
constexpr Outcome chebyshev(System& A, const KrylovRun<Vector>& run, Report& report, double lowest,
                            double highest, Vector d, Vector Ad) {
    const auto& [x, r, rr, target, limit, scale] = run;
    if (!(lowest > 0) || !(highest > lowest)) return report.breakdown(Vanished::lowest_eigenvalue);
    const double theta = (highest + lowest) / 2;
    const double delta = (highest - lowest) / 2;
    const double sigma = theta / delta;  // 2
    double rho = 1 / sigma;              // 2
    double bound = std::sqrt(rr);        // |r| / T_k(sigma)
    A.combine(d, {1 / theta}, {r});      // 2
    for (int k = 0; k < limit; ++k) {    // 3
        A.axpby(x, 1, x, 1, d);          // 4
        A.apply(Ad, d);
        A.axpby(r, 1, r, -1, Ad);                        // 5
        bound *= rho;                                    // T_k / T_{k+1}
        const double next = 1 / (2 * sigma - rho);       // 6
        A.axpby(d, next * rho, d, 2 * next / delta, r);  // 7
        rho = next;
        ++report.iterations;
        report.residuals.push_back(bound / scale);
        if (bound <= target) return Outcome::converged;
    }
    return Outcome::iteration_limit;
}

}  // namespace keel::krylov
