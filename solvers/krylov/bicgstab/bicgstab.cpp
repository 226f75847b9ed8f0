// BiCGStab: van der Vorst 1992, as Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., Alg. 7.7, with
// r~ = r_0 and the stopping test after the half step as well (Williams et al. 2014, Alg. 1).
//
// Per iteration: 2 applications (2 exchanges) and 6 all-reduces of 1 word, kept apart as in the papers' codes
// because this is the method whose latency the others avoid; bicgstab_fused.cpp is the fair baseline.
// Vectors: r~, p, s, Ap, As besides x and r. 2 F_A + 29 flops per cell, F_A those of an application.
// Weakness: the residual histories of equivalent variants separate after 15 to 40 iterations, counts differ
// by 10 %.

#include <cmath>

#include "solvers/krylov/krylov.hpp"
#include "solvers/krylov/methods.hpp"

namespace keel {
namespace {

class BiCGStab : public MethodOfSystem {
  public:
    using MethodOfSystem::MethodOfSystem;

    Outcome iterate(const Run& run, Report& report) override {
        const auto& [x, r, rr, target, limit, scale] = run;
        A.copy(r0, r);  // 1
        A.copy(p, r);   // 2
        double rho = rr;
        for (int j = 0; j < limit; ++j) {  // 3
            A.apply(Ap, p);
            const double alpha = rho / A.dot(Ap, r0);  // 4
            if (unusable(alpha)) return report.breakdown("(r~,Ap)");
            A.axpby(s, 1, r, -alpha, Ap);  // 5
            A.axpby(x, 1, x, alpha, p);    // 7, first half
            ++report.iterations;
            const double norm_s = std::sqrt(A.dot(s, s));
            if (norm_s <= target) return report.converged(norm_s / scale);

            A.apply(As, s);
            const double Ass = A.dot(As, s);
            const double omega = Ass / A.dot(As, As);  // 6
            if (unusable(omega)) return report.breakdown("omega");
            A.axpby(x, 1, x, omega, s);    // 7, second half
            A.axpby(r, 1, s, -omega, As);  // 8
            const double norm_r = std::sqrt(A.dot(r, r));
            if (norm_r <= target) return report.converged(norm_r / scale);
            report.residuals.push_back(norm_r / scale);

            const double next = A.dot(r, r0);
            if (unusable(next)) return report.breakdown("(r~,r)");
            const double beta = next / rho * alpha / omega;                            // 9
            A.combine(p, std::array{1.0, beta, -beta * omega}, std::array{r, p, Ap});  // 10
            rho = next;
        }
        return Outcome::iteration_limit;
    }

  private:
    Vector r0 = vector(), p = vector(), s = vector(), Ap = vector(), As = vector();
};

}  // namespace

Method bicgstab() {
    return {
        .name = "bicgstab",
        .source = "van der Vorst 1992; Williams et al. 2014, Alg. 1",
        .use = "the papers' baseline: every inner product waits for its own all-reduce",
        .scaling = DiagonalScaling::right,
        .exchanges = 2,
        .reductions = 6,
        .words = 6,
        .vectors = 5,
        .applications = 2,
        .flops = 29,
        .preconditioning = Preconditioning::right,
        .make = made<BiCGStab>,
    };
}

}  // namespace keel
