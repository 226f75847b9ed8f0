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

#include "kernels/bodies/krylov/bicgstab.hpp"
#include "solvers/krylov/krylov.hpp"
#include "solvers/krylov/methods.hpp"

namespace keel {
namespace {

template <bool fused>
class BiCGStab : public MethodOfSystem {
  public:
    using MethodOfSystem::MethodOfSystem;

    Outcome iterate(const Run& run, Report& report) override {
        return fused ? bodies::bicgstab_fused(A, run, report, own)
                     : bodies::bicgstab(A, run, report, own, options.norm == Norm::max);
    }

  private:
    bodies::BiCGStabVectors<Vector> own{vector(), vector(), vector(), vector(), vector()};
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
        .keys = {"norm"},
        .preconditioning = Preconditioning::right,
        .tests_max = true,
        .launched = LaunchedMethod::bicgstab,
        .make = made<BiCGStab<false>>,
    };
}

Method bicgstab_fused() {
    Method method = bicgstab();
    method.name = "bicgstab_fused";
    method.source = "the same recurrences, inner products fused";
    method.use = "the fair baseline: a third of bicgstab's all-reduces at no cost";
    method.reductions = 2;
    method.keys = {};
    method.tests_max = false;
    method.launched = LaunchedMethod::bicgstab_fused;
    method.make = made<BiCGStab<true>>;
    return method;
}

}  // namespace keel
