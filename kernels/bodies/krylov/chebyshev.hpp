#pragma once

#include "kernels/bodies/krylov/run.hpp"

namespace keel::bodies {

// Chebyshev's iteration for eigenvalues in [lowest, highest] (solvers/krylov/stationary).
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

}  // namespace keel::bodies
