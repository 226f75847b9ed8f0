// Pipelined conjugate gradients: Ghysels and Vanroose, Parallel Computing 40 (2014), p-CG, without
// preconditioner. The same iterates as cg.cpp in exact arithmetic.
//
// Per iteration: 1 application (1 exchange) and 1 all-reduce of 2 words, which is on its way while the
// operator is applied. A solve of k iterations costs k + 2 applications: the last one tells that nothing is
// left to do. Vectors: w, n, z, s, p besides x and r. F_A + 22 flops per cell.
// Weakness: r and w come from recurrences that drift from the true residual, sooner than CG's. Measured on
// 32^3 with constant coefficients, periodic and Dirichlet, tolerance 1e-15: a breakdown at true residuals of
// 8e-10 and 6e-12, where CG reaches 1e-14 and 2e-15.

#include <cmath>

#include "solvers/krylov/krylov.hpp"
#include "solvers/krylov/methods.hpp"

namespace keel {
namespace {

class PipelinedCG : public KrylovMethod {
  public:
    explicit PipelinedCG(LinearSystem& system)
        : A(system),
          w(A.make_vector()),
          n(A.make_vector()),
          z(A.make_vector()),
          s(A.make_vector()),
          p(A.make_vector()) {}

    Outcome iterate(const Run& run, Report& report) override {
        const auto& [x, r, rr, target, limit, scale] = run;
        A.apply(w, r);
        double gamma_old = 0;
        double alpha_old = 0;
        for (int i = 0;; ++i) {
            const Product products[] = {{r, r}, {w, r}};
            PendingSum pending = A.begin_dots(products);
            A.apply(n, w);
            double sums[2];
            pending.finish(sums);
            const auto [gamma, delta] = sums;
            if (i > 0) {
                report.residuals.push_back(std::sqrt(gamma) / scale);
                if (std::sqrt(gamma) <= target) return Outcome::converged;
                if (i == limit) return Outcome::iteration_limit;
            }
            if (!std::isfinite(gamma)) return report.breakdown("(r,r)");
            const double beta = i > 0 ? gamma / gamma_old : 0.0;
            const double pAp = i > 0 ? delta - beta * gamma / alpha_old : delta;  // with the next p
            const double alpha = gamma / pAp;
            if (unusable(alpha) || !(pAp > 0)) return report.breakdown("(p,Ap)");
            update(z, n, beta);  // A s
            update(s, w, beta);  // A p
            update(p, r, beta);
            A.axpby(x, 1, x, alpha, p);
            A.axpby(r, 1, r, -alpha, s);
            A.axpby(w, 1, w, -alpha, z);
            ++report.iterations;
            gamma_old = gamma;
            alpha_old = alpha;
        }
    }

  private:
    // y = x + beta y, whatever y holds if beta is 0.
    void update(LinearSystem::Vector y, LinearSystem::Vector x, double beta) {
        if (beta == 0.0)
            A.copy(y, x);
        else
            A.axpby(y, 1, x, beta, y);
    }

    LinearSystem& A;
    LinearSystem::Vector w, n, z, s, p;  // A r, A w, A s, A p, the direction
};

}  // namespace

Method pipelined_cg() {
    return {
        .name = "pipelined_cg",
        .source = "Ghysels and Vanroose 2014, p-CG",
        .use = "cg, its one all-reduce hidden behind the application of the operator; loose tolerances",
        .scaling = DiagonalScaling::symmetric,
        .exchanges = 1,
        .reductions = 1,
        .words = 2,
        .vectors = 5,
        .applications = 1,
        .flops = 22,
        .make = [](LinearSystem& A, const BottomOptions&, const Spectrum&) -> std::unique_ptr<KrylovMethod> {
            return std::make_unique<PipelinedCG>(A);
        },
    };
}

}  // namespace keel
