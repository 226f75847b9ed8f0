// Preconditioned conjugate gradients: Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., Alg. 9.1. A
// and M must be symmetric and positive definite (semi-definite with b in the range of A). The test is on |r|,
// as in cg.cpp, not on the norm sqrt(r,z) that the method minimises in.
//
// Per iteration: 1 application of A (1 exchange) and 1 of M, 2 all-reduces of 1 and 2 words; a solve of k
// iterations applies M k + 1 times. Vectors: z, p, Ap besides x and r. F_A + F_M + 12 flops per cell.
// Weakness: a pair of all-reduces per iteration that pipelined variants would hide (Ghysels and Vanroose
// 2014, Alg. 4).

#include "solvers/krylov/preconditioned_cg.hpp"

#include <cmath>

namespace keel {
namespace {

class PreconditionedCG : public KrylovMethod {
  public:
    PreconditionedCG(LinearSystem& system, Preconditioner& preconditioner)
        : A(system), M(preconditioner), z(A.make_vector()), p(A.make_vector()), Ap(A.make_vector()) {}

    Outcome iterate(const Run& run, Report& report) override {
        const auto& [x, r, rr_start, target, limit, scale] = run;
        M.apply(z, r);  // 1
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
            M.apply(z, r);  // 6
            const auto [next, rr] = A.dots({{r, z}, {r, r}});
            report.residuals.push_back(std::sqrt(rr) / scale);
            if (std::sqrt(rr) <= target) return Outcome::converged;
            const double beta = next / rz;  // 7
            A.axpby(p, 1, z, beta, p);      // 8
            rz = next;
        }
        return Outcome::iteration_limit;
    }

  private:
    LinearSystem& A;
    Preconditioner& M;
    LinearSystem::Vector z, p, Ap;
};

}  // namespace

std::unique_ptr<KrylovMethod> make_preconditioned_cg(LinearSystem& A, Preconditioner& M) {
    return std::make_unique<PreconditionedCG>(A, M);
}

}  // namespace keel
