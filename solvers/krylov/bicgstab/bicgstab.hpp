#pragma once

// BiCGStab: van der Vorst 1992, as Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., Alg. 7.7, with
// r~ = r_0 and the stopping test after the half step as well (Williams et al. 2014, Alg. 1).
//
// Per iteration: 2 applications (2 exchanges) and 6 all-reduces of 1 word, kept apart as in the papers' codes
// because this is the method whose latency the others avoid; bicgstab_fused is the fair baseline.
// Vectors: r~, p, s, Ap, As besides x and r. 2 F_A + 29 flops per cell, F_A those of an application.
// Weakness: the residual histories of equivalent variants separate after 15 to 40 iterations, counts differ
// by 10 %.
//
// bicgstab_fused: the same with inner products fused into two all-reduces per iteration, of 1 and 5 words;
// the scalars of the second half are from
//     (r~,r+) = (r~,s) - omega (r~,As),   (r+,r+) = (s,s) - 2 omega (s,As) + omega^2 (As,As).
// The latter serves the stopping test only; a negative value is taken as 0, and verified like every claim.

#include <algorithm>

#include "solvers/krylov/run.hpp"

namespace keel::krylov {

template <class Vector>
struct BiCGStabVectors {
    Vector r0, p, s, Ap, As;
};

// `by_max`: max|r| is tested.
template <class System, class Report, class Vector = typename System::Vector>
constexpr Outcome bicgstab(System& A, const KrylovRun<Vector>& run, Report& report,
                           const BiCGStabVectors<Vector>& own, bool by_max = false) {
    const auto& [x, r, rr, target, limit, scale] = run;
    const auto& [r0, p, s, Ap, As] = own;
    const auto norm = [&](Vector v) { return by_max ? A.max_norm(v) : std::sqrt(A.dot(v, v)); };
    A.copy(r0, r);  // 1
    A.copy(p, r);   // 2
    double rho = rr;
    for (int j = 0; j < limit; ++j) {  // 3
        A.apply(Ap, p);
        const double alpha = rho / A.dot(Ap, r0);  // 4
        if (unusable(alpha)) return report.breakdown(Vanished::r0_Ap);
        A.axpby(s, 1, r, -alpha, Ap);  // 5
        A.axpby(x, 1, x, alpha, p);    // 7, first half
        ++report.iterations;
        const double norm_s = norm(s);
        if (norm_s <= target) return report.converged(norm_s / scale);

        A.apply(As, s);
        const double Ass = A.dot(As, s);
        const double omega = Ass / A.dot(As, As);  // 6
        if (unusable(omega)) return report.breakdown(Vanished::omega);
        A.axpby(x, 1, x, omega, s);    // 7, second half
        A.axpby(r, 1, s, -omega, As);  // 8
        const double norm_r = norm(r);
        if (norm_r <= target) return report.converged(norm_r / scale);
        report.residuals.push_back(norm_r / scale);

        const double next = A.dot(r, r0);
        if (unusable(next)) return report.breakdown(Vanished::r0_r);
        const double beta = next / rho * alpha / omega;        // 9
        A.combine(p, {1.0, beta, -beta * omega}, {r, p, Ap});  // 10
        rho = next;
    }
    return Outcome::iteration_limit;
}

template <class System, class Report, class Vector = typename System::Vector>
constexpr Outcome bicgstab_fused(System& A, const KrylovRun<Vector>& run, Report& report,
                                 const BiCGStabVectors<Vector>& own) {
    const auto& [x, r, rr, target, limit, scale] = run;
    const auto& [r0, p, s, Ap, As] = own;
    A.copy(r0, r);  // 1
    A.copy(p, r);   // 2
    double rho = rr;
    for (int j = 0; j < limit; ++j) {  // 3
        A.apply(Ap, p);
        const double alpha = rho / A.dot(Ap, r0);  // 4
        if (unusable(alpha)) return report.breakdown(Vanished::r0_Ap);
        A.axpby(s, 1, r, -alpha, Ap);  // 5
        A.axpby(x, 1, x, alpha, p);    // 7, first half
        ++report.iterations;

        A.apply(As, s);
        const auto [ss, sAs, AsAs, r0s, r0As] = A.dots({{s, s}, {s, As}, {As, As}, {r0, s}, {r0, As}});
        if (std::sqrt(ss) <= target) return report.converged(std::sqrt(ss) / scale);
        const double omega = sAs / AsAs;  // 6
        if (unusable(omega)) return report.breakdown(Vanished::omega);
        A.axpby(x, 1, x, omega, s);    // 7, second half
        A.axpby(r, 1, s, -omega, As);  // 8
        const double norm_r = std::sqrt(std::max(0.0, ss - 2 * omega * sAs + omega * omega * AsAs));
        if (norm_r <= target) return report.converged(norm_r / scale);
        report.residuals.push_back(norm_r / scale);

        const double next = r0s - omega * r0As;
        if (unusable(next)) return report.breakdown(Vanished::r0_r);
        const double beta = next / rho * alpha / omega;        // 9
        A.combine(p, {1.0, beta, -beta * omega}, {r, p, Ap});  // 10
        rho = next;
    }
    return Outcome::iteration_limit;
}

}  // namespace keel::krylov
