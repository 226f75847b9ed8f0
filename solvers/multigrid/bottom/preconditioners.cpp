#include "solvers/multigrid/bottom/preconditioners.hpp"

#include "solvers/multigrid/v_cycle.hpp"
#include "solvers/systems/preconditioners/block_jacobi.hpp"

namespace keel {

std::unique_ptr<Preconditioner> make_preconditioner(Hierarchy& hierarchy, PreconditionerKind kind,
                                                    const MultigridOptions& multigrid, int bottom_sweeps) {
    if (kind == PreconditionerKind::v_cycle)
        return std::make_unique<VCycle>(hierarchy, multigrid, bottom_sweeps);
    if (kind != PreconditionerKind::block_ic0) return nullptr;
    Level& level = hierarchy.level(0);
    return std::make_unique<BlockJacobi>(level.bottom_operations, *level.reduction, level.L);
}

}  // namespace keel
