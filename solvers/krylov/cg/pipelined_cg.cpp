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

#include <array>

#include "kernels/bodies/krylov/pipelined_cg.hpp"
#include "solvers/krylov/krylov.hpp"
#include "solvers/krylov/methods.hpp"
#include "solvers/systems/preconditioners/preconditioner.hpp"

namespace keel {
namespace {

class PipelinedCG : public MethodOfSystem {
  public:
    using MethodOfSystem::MethodOfSystem;

    Outcome iterate(const Run& run, Report& report) override {
        // Without a preconditioner u is r, m is w and q is s.
        const auto& [w, n, z, s, p] = own;
        const bodies::PipelinedCGVectors<Vector> all{
            w, n, z, s, p, M ? own_u : run.r, M ? own_m : w, M ? own_q : s};
        return bodies::pipelined_cg(A, M, !M || options.norm == Norm::natural, run, report, all);
    }

  private:
    std::array<Vector, 5> own{vector(), vector(), vector(), vector(), vector()};
    Vector own_u = vector_with_M(), own_m = vector_with_M(), own_q = vector_with_M();  // M r, M w, M s
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
        .hides_all_reduces = true,
        .applications = 1,
        .flops = 22,
        .keys = {"norm"},
        .preconditioning = Preconditioning::symmetric,
        .norms = {Norm::residual, Norm::natural},
        .preconditioned_vectors = 3,
        .launched = LaunchedMethod::pipelined_cg,
        .make = made<PipelinedCG>,
        .make_preconditioned = made<PipelinedCG>,
    };
}

}  // namespace keel
