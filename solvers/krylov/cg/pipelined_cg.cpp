#include <array>

#include "solvers/krylov/cg/pipelined_cg.hpp"
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
        const krylov::PipelinedCGVectors<Vector> all{
            w, n, z, s, p, M ? own_u : run.r, M ? own_m : w, M ? own_q : s};
        return krylov::pipelined_cg(A, M, !M || options.norm == Norm::natural, run, report, all);
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
