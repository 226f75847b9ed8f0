#include "solvers/multigrid/bottom/preconditioners.hpp"

#include "solvers/multigrid/v_cycle.hpp"

namespace keel {
namespace {

BlockSolver block_solver(PreconditionerKind kind) {
    return kind == PreconditionerKind::block_ic0 ? BlockSolver::ic0 : BlockSolver::exact;
}

}  // namespace

std::unique_ptr<Preconditioner> make_preconditioner(Hierarchy& hierarchy, PreconditionerKind kind,
                                                    const MultigridOptions& multigrid, int bottom_sweeps) {
    if (kind == PreconditionerKind::v_cycle)
        return std::make_unique<VCycle>(hierarchy, multigrid, bottom_sweeps);
    if (!is_of_blocks(kind)) return nullptr;
    Level& level = hierarchy.level(0);
    return std::make_unique<BlockJacobi>(level.bottom_operations, *level.reduction, level.L,
                                         block_solver(kind));
}

int preconditioner_fields(PreconditionerKind kind) {
    return is_of_blocks(kind) ? BlockJacobi::fields(block_solver(kind)) : 0;
}

double preconditioner_bytes_of_box(PreconditionerKind kind, const Index& extent) {
    return is_of_blocks(kind) ? sizeof(double) * BlockJacobi::values_of_box(block_solver(kind), extent) : 0.0;
}

}  // namespace keel
