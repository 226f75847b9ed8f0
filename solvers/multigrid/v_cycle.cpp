#include "solvers/multigrid/v_cycle.hpp"

#include "kernels/check.hpp"
#include "solvers/krylov/methods.hpp"

namespace keel {
namespace {

MultigridOptions made_symmetric(MultigridOptions options) {
    options.symmetric = true;
    return options;
}

BottomOptions relaxed(int sweeps) {
    BottomOptions options;
    options.solver = relaxation().name;
    options.sweeps = sweeps;
    return options;
}

}  // namespace

VCycle::VCycle(Hierarchy& hierarchy, const MultigridOptions& multigrid, int bottom_sweeps)
    : multigrid_(hierarchy, made_symmetric(multigrid), relaxed(bottom_sweeps)),
      symmetric_(multigrid.pre == multigrid.post && multigrid.interpolation == Interpolation::constant),
      precision_(hierarchy.mixed() ? Precision::fp32 : hierarchy.cycles_send()) {
    check_at_least(hierarchy.levels(), 2, "a V-cycle has two levels or more");
}

void VCycle::multiply(Vector z, Vector r) {
    multigrid_.cycle(z, r);
}

}  // namespace keel
