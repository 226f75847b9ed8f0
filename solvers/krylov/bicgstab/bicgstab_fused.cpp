// BiCGStab with its inner products fused into two all-reduces per iteration: the recurrences of Saad,
// Alg. 7.7 (r~ = r_0), the scalars of the second half from
//     (r~,r+) = (r~,s) - omega (r~,As),   (r+,r+) = (s,s) - 2 omega (s,As) + omega^2 (As,As).
// The latter serves the stopping test only; a negative value is taken as 0, and verified like every claim.
//
// Per iteration: 2 applications (2 exchanges), 2 all-reduces (1 and 5 words).
// Vectors: r~, p, s, Ap, As besides x and r. 2 F_A + 29 flops per cell.

#include <algorithm>
#include <cmath>

#include "solvers/krylov/krylov.hpp"
#include "solvers/krylov/methods.hpp"

namespace keel {
namespace {

class FusedBiCGStab : public MethodOfSystem {
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

            A.apply(As, s);
            const auto [ss, sAs, AsAs, r0s, r0As] = A.dots({{s, s}, {s, As}, {As, As}, {r0, s}, {r0, As}});
            if (std::sqrt(ss) <= target) return report.converged(std::sqrt(ss) / scale);
            const double omega = sAs / AsAs;  // 6
            if (unusable(omega)) return report.breakdown("omega");
            A.axpby(x, 1, x, omega, s);    // 7, second half
            A.axpby(r, 1, s, -omega, As);  // 8
            const double norm_r = std::sqrt(std::max(0.0, ss - 2 * omega * sAs + omega * omega * AsAs));
            if (norm_r <= target) return report.converged(norm_r / scale);
            report.residuals.push_back(norm_r / scale);

            const double next = r0s - omega * r0As;
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

Method bicgstab_fused() {
    return {
        .name = "bicgstab_fused",
        .source = "the same recurrences, inner products fused",
        .use = "the fair baseline: a third of bicgstab's all-reduces at no cost",
        .scaling = DiagonalScaling::right,
        .exchanges = 2,
        .reductions = 2,
        .words = 6,
        .vectors = 5,
        .applications = 2,
        .flops = 29,
        .preconditioning = Preconditioning::right,
        .make = made<FusedBiCGStab>,
    };
}

}  // namespace keel
