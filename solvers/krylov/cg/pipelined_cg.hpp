#pragma once

// Pipelined conjugate gradients: Ghysels and Vanroose, Parallel Computing 40 (2014), p-CG, with a
// preconditioner (Alg. 4) and without (Alg. 3). The same iterates as cg.cpp in exact arithmetic. The test
// is on |r|, with a preconditioner for a word more, or on the natural norm sqrt(r,u).
//
// Per iteration: 1 application (1 exchange) and 1 all-reduce of 2 words, which is in flight while the
// operator is applied. A solve of k iterations costs k + 2 applications: the last one tells that nothing is
// left to do. Vectors: w, n, z, s, p besides x and r. F_A + 22 flops per cell. With a preconditioner M the
// all-reduce is in flight while M is applied, too, and there are u, m, q besides: u = M r, m = M w, q = M s;
// without, u is r, m is w and q is s. k + 2 applications of M.
// Weakness: r and w come from recurrences that drift from the true residual, sooner than CG's. Measured on
// 32^3 with constant coefficients, periodic and Dirichlet, tolerance 1e-15: a breakdown at true residuals of
// 8e-10 and 6e-12, where CG reaches 1e-14 and 2e-15.

#include <cstddef>
#include <span>

#include "solvers/krylov/run.hpp"

namespace keel::krylov {

// A u, A m, A q, A p and the direction; and with a preconditioner M: M r, M w, M s, which are r, w and s
// without.
template <class Vector>
struct PipelinedCGVectors {
    Vector w, n, z, s, p, u, m, q;
};

// y = x + beta y, whatever y holds if beta is 0.
template <class System, class Vector = typename System::Vector>
constexpr void update(System& A, Vector y, Vector x, double beta) {
    if (beta == 0.0)
        A.copy(y, x);
    else
        A.axpby(y, 1, x, beta, y);
}

// M: a preconditioner, or null. `natural`: the test is on sqrt(r,u).
template <class System, class Preconditioner, class Report, class Vector = typename System::Vector>
constexpr Outcome pipelined_cg(System& A, Preconditioner* M, bool natural, const KrylovRun<Vector>& run,
                               Report& report, const PipelinedCGVectors<Vector>& own) {
    const auto& [x, r, rr, target, limit, scale] = run;
    const auto& [w, n, z, s, p, u, m, q] = own;
    const typename System::Product products[] = {{r, u}, {w, u}, {r, r}};
    const std::size_t count = natural ? 2 : 3;
    double sums[3];
    if (M) M->apply(u, r);
    A.apply(w, u);
    double gamma_old = 0;
    double alpha_old = 0;
    for (int i = 0;; ++i) {
        auto pending = A.begin_dots(std::span<const typename System::Product>(products, count));
        if (M) M->apply(m, w);
        A.apply(n, m);
        pending.finish(std::span<double>(sums, count));
        const double gamma = sums[0];
        const double delta = sums[1];
        const double square = natural ? gamma : sums[2];
        if (i > 0) {
            report.residuals.push_back(std::sqrt(square) / scale);
            if (std::sqrt(square) <= target) return Outcome::converged;
            if (i == limit) return Outcome::iteration_limit;
        }
        if (!std::isfinite(gamma)) return report.breakdown(Vanished::r_r);
        const double beta = i > 0 ? gamma / gamma_old : 0.0;
        const double pAp = i > 0 ? delta - beta * gamma / alpha_old : delta;  // with the next p
        const double alpha = gamma / pAp;
        if (unusable(alpha) || !(pAp > 0)) return report.breakdown(Vanished::p_Ap);
        update(A, z, n, beta);         // A q
        if (M) update(A, q, m, beta);  // M s
        update(A, s, w, beta);         // A p
        update(A, p, u, beta);
        A.axpby(x, 1, x, alpha, p);
        A.axpby(r, 1, r, -alpha, s);
        if (M) A.axpby(u, 1, u, -alpha, q);
        A.axpby(w, 1, w, -alpha, z);
        ++report.iterations;
        gamma_old = gamma;
        alpha_old = alpha;
    }
}

}  // namespace keel::krylov
