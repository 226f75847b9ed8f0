#include <cmath>

#include "solvers/krylov/cg/cg.hpp"
#include "solvers/krylov/krylov.hpp"
#include "solvers/krylov/methods.hpp"
#include "solvers/systems/preconditioners/preconditioner.hpp"

namespace keel {
namespace {

class ConjugateGradients : public MethodOfSystem {
  public:
    using MethodOfSystem::MethodOfSystem;

    Outcome iterate(const Run& run, Report& report) override {
        return krylov::cg(A, run, report, p, Ap, options.norm == Norm::max);
    }

  private:
    Vector p = vector(), Ap = vector();
};

// Preconditioned conjugate gradients: Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., Alg. 9.1. A
// and M must be symmetric and positive definite (semi-definite with b in the range of A). The test is on |r|,
// as above, or on the natural norm sqrt(r,z), which is there anyway.
//
// Per iteration: 1 application of A (1 exchange) and 1 of M, 2 all-reduces of 1 and 2 words (natural: 1); a
// solve of k iterations applies M k + 1 times. Vectors: z, p, Ap besides x and r. F_A + F_M + 15 flops per
// cell (natural: 13).
//
// M that varies, or computes in single precision: beta of Notay, "Flexible conjugate gradients", SIAM J. Sci.
// Comput. 22 (2000), 1444-1460, FCG(1), which is the one below where M is fixed: (z, r - r_before) / (r,
// z)_before, of which r - r_before = -alpha Ap. A word more, 2 flops a cell.
class PreconditionedCG : public MethodOfSystem {
  public:
    using MethodOfSystem::MethodOfSystem;

    Outcome iterate(const Run& run, Report& report) override {
        const auto& [x, r, rr_start, target, limit, scale] = run;
        M->apply(z, r);  // 1
        A.copy(p, z);
        double rz = A.dot(r, z);
        for (int j = 0; j < limit; ++j) {  // 2
            if (unusable(rz) || rz < 0) return report.breakdown("(r,Mr)");
            A.apply(Ap, p);
            const double pAp = A.dot(Ap, p);
            const double alpha = rz / pAp;  // 3
            if (unusable(alpha) || pAp < 0) return report.breakdown("(p,Ap)");
            A.axpby(x, 1, x, alpha, p);    // 4
            A.axpby(r, 1, r, -alpha, Ap);  // 5
            ++report.iterations;
            M->apply(z, r);  // 6
            const std::size_t of_norm = options.norm == Norm::natural ? 0 : 1;
            const std::size_t count = of_norm + (M->wants_flexible() ? 2 : 1);
            const Product products[] = {{r, z}, of_norm == 1 ? Product{r, r} : Product{z, Ap}, {z, Ap}};
            double sums[3];
            A.dots(std::span(products).first(count), std::span(sums).first(count));
            const double next = sums[0];
            const double square = sums[of_norm];
            report.residuals.push_back(std::sqrt(square) / scale);
            if (std::sqrt(square) <= target) return Outcome::converged;
            const double beta = M->wants_flexible() ? -alpha * sums[count - 1] / rz : next / rz;  // 7
            A.axpby(p, 1, z, beta, p);                                                            // 8
            rz = next;
        }
        return Outcome::iteration_limit;
    }

  private:
    Vector z = vector(), p = vector(), Ap = vector();
};

}  // namespace

Method cg() {
    const Quantity with_norm{"2; norm = max 3",
                             [](const BottomOptions& o) { return o.norm == Norm::max ? 3 : 2; }};
    return {
        .name = "cg",
        .source = "Hestenes and Stiefel 1952; Saad, Alg. 6.18",
        .use = "the operator is symmetric: half the work of BiCGStab per iteration",
        .scaling = DiagonalScaling::symmetric,
        .exchanges = 1,
        .reductions = with_norm,
        .words = with_norm,
        .vectors = 2,
        .applications = 1,
        .flops = 13,
        .keys = {"norm"},
        .preconditioning = Preconditioning::symmetric,
        .norms = {Norm::residual, Norm::natural},
        .tests_max = true,
        .preconditioned_vectors = 1,
        .flexible = true,
        .launched = LaunchedMethod::cg,
        .make = made<ConjugateGradients>,
        .make_preconditioned = made<PreconditionedCG>,
    };
}

}  // namespace keel
