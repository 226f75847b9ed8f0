#include "solvers/multigrid/bottom/preconditioners.hpp"

#include "solvers/multigrid/v_cycle.hpp"

namespace keel {

std::unique_ptr<Preconditioner> make_preconditioner(Hierarchy& hierarchy,
                                                    const PreconditionerOptions& options,
                                                    const MultigridOptions& multigrid, int bottom_sweeps) {
    if (options.kind == PreconditionerKind::v_cycle)
        return std::make_unique<VCycle>(hierarchy, multigrid, bottom_sweeps);
    if (options.kind == PreconditionerKind::none) return nullptr;
    Level& level = hierarchy.level(0);
    return std::make_unique<BlockJacobi>(level.bottom_operations, *level.reduction, level.L,
                                         options.block_solver);
}

int preconditioner_fields(const PreconditionerOptions& options) {
    return options.kind == PreconditionerKind::block_jacobi ? BlockJacobi::fields(options.block_solver) : 0;
}

double preconditioner_bytes_of_box(const PreconditionerOptions& options, const Index& extent) {
    if (options.kind != PreconditionerKind::block_jacobi) return 0.0;
    return sizeof(double) * BlockJacobi::values_of_box(options.block_solver, extent);
}

}  // namespace keel
