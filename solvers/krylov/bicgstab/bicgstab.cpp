#include "solvers/krylov/bicgstab/bicgstab.hpp"
#include "solvers/krylov/krylov.hpp"
#include "solvers/krylov/methods.hpp"

namespace keel {
namespace {

template <bool fused>
class BiCGStab : public MethodOfSystem {
  public:
    using MethodOfSystem::MethodOfSystem;

    Outcome iterate(const Run& run, Report& report) override {
        return fused ? krylov::bicgstab_fused(A, run, report, own)
                     : krylov::bicgstab(A, run, report, own, options.norm == Norm::max);
    }

  private:
    krylov::BiCGStabVectors<Vector> own{vector(), vector(), vector(), vector(), vector()};
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
