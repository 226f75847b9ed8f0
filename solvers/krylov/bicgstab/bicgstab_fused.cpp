// BiCGStab with its inner products fused into two all-reduces per iteration: the recurrences of Saad,
// Alg. 7.7 (r~ = r_0), the scalars of the second half from
//     (r~,r+) = (r~,s) - omega (r~,As),   (r+,r+) = (s,s) - 2 omega (s,As) + omega^2 (As,As).
// The latter serves the stopping test only; a negative value is taken as 0, and verified like every claim.
//
// Per iteration: 2 applications (2 exchanges), 2 all-reduces (1 and 5 words).
// Vectors: r~, p, s, Ap, As besides x and r. 2 F_A + 29 flops per cell.

#include "kernels/bodies/krylov/bicgstab.hpp"
#include "solvers/krylov/krylov.hpp"
#include "solvers/krylov/methods.hpp"

namespace keel {
namespace {

class FusedBiCGStab : public MethodOfSystem {
  public:
    using MethodOfSystem::MethodOfSystem;

    Outcome iterate(const Run& run, Report& report) override {
        return bodies::bicgstab_fused(A, run, report, own);
    }

  private:
    bodies::BiCGStabVectors<Vector> own{vector(), vector(), vector(), vector(), vector()};
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
        .launched = LaunchedMethod::bicgstab_fused,
        .make = made<FusedBiCGStab>,
    };
}

}  // namespace keel
