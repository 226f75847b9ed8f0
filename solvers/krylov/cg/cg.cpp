// Conjugate gradients: Hestenes and Stiefel 1952, as Saad, Iterative Methods for Sparse Linear Systems,
// 2nd ed., Alg. 6.18. A must be symmetric and positive definite (semi-definite with b in its range).
//
// Per iteration: 1 application (1 exchange), 2 all-reduces of 1 word. Vectors: p, Ap besides x and r.
// F_A + 13 flops per cell.

#include <cmath>

#include "solvers/krylov/cg/preconditioned_cg.hpp"
#include "solvers/krylov/krylov.hpp"
#include "solvers/krylov/methods.hpp"

namespace keel {
namespace {

class ConjugateGradients : public KrylovMethod {
  public:
    explicit ConjugateGradients(LinearSystem& system) : A(system), p(A.make_vector()), Ap(A.make_vector()) {}

    Outcome iterate(const Run& run, Report& report) override {
        const auto& [x, r, rr_start, target, limit, scale] = run;
        A.copy(p, r);  // 1
        double rr = rr_start;
        for (int j = 0; j < limit; ++j) {  // 2
            A.apply(Ap, p);
            const double pAp = A.dot(Ap, p);
            const double alpha = rr / pAp;  // 3
            if (unusable(alpha) || pAp < 0) return report.breakdown("(p,Ap)");
            A.axpby(x, 1, x, alpha, p);    // 4
            A.axpby(r, 1, r, -alpha, Ap);  // 5
            ++report.iterations;
            const double next = A.dot(r, r);
            report.residuals.push_back(std::sqrt(next) / scale);
            if (std::sqrt(next) <= target) return Outcome::converged;
            if (!std::isfinite(next)) return report.breakdown("(r,r)");
            const double beta = next / rr;  // 6
            A.axpby(p, 1, r, beta, p);      // 7
            rr = next;
        }
        return Outcome::iteration_limit;
    }

  private:
    LinearSystem& A;
    LinearSystem::Vector p, Ap;
};

}  // namespace

Method cg() {
    return {
        .name = "cg",
        .source = "Hestenes and Stiefel 1952; Saad, Alg. 6.18",
        .use = "the operator is symmetric: half the work of BiCGStab per iteration",
        .scaling = DiagonalScaling::symmetric,
        .exchanges = 1,
        .reductions = 2,
        .words = 2,
        .vectors = 2,
        .applications = 1,
        .flops = 13,
        .keys = {"norm"},
        .preconditioning = Preconditioning::symmetric,
        .norms = {Norm::residual, Norm::natural},
        .preconditioned_vectors = 1,
        .flexible = true,
        .make = [](LinearSystem& A, const BottomOptions&, const Spectrum&) -> std::unique_ptr<KrylovMethod> {
            return std::make_unique<ConjugateGradients>(A);
        },
        .make_preconditioned = [](LinearSystem& A, Preconditioner& M, const BottomOptions& options,
                                  const Spectrum&) { return make_preconditioned_cg(A, M, options.norm); },
    };
}

}  // namespace keel
