#include "miniapp/prediction/counting/grid_solver.hpp"

#include "solvers/multigrid/bottom/level_krylov.hpp"
#include "solvers/multigrid/bottom/preconditioners.hpp"

namespace keel {

GridSolver::GridSolver(Hierarchy& hierarchy, const GridSetup& grids, const NamedSolver& solver)
    : hierarchy_(hierarchy),
      by_cycles_(grids.use.preconditioner == PreconditionerKind::v_cycle),
      by_full_cycle_(grids.use.full_multigrid) {
    if (grids.use.krylov != KrylovLevel::finest) {
        multigrid_ = std::make_unique<Multigrid>(hierarchy, grids.multigrid, solver.options);
        return;
    }
    M_ = make_preconditioner(hierarchy, grids.use.preconditioner, grids.multigrid, solver.options.sweeps);
    krylov_ = make_krylov(hierarchy.level(0), hierarchy.singular(), solver.options, M_.get());
}

SolveCounts GridSolver::solve(int level) {
    if (krylov_) return solve_on_finest();
    SolveReport report;
    if (by_full_cycle_) {
        report.visits = multigrid_->full_cycle(level);
        report.cycles = 1;
        report.outcome = Outcome::converged;
    } else {
        report = multigrid_->solve(level);
    }
    return {report.cycles, static_cast<int>(report.visits.size()), report.bottom_iterations(),
            report.converged(), name(report.outcome)};
}

SolveCounts GridSolver::solve_on_finest() {
    Level& top = hierarchy_.level(0);
    const long before = M_ ? M_->applications() : 0;
    const Report report = krylov_->solve(top.u, top.f);
    if (hierarchy_.singular()) remove_mean(top.bottom_operations, *top.reduction, top.u);
    const int v_cycles = by_cycles_ ? static_cast<int>(M_->applications() - before) : 0;
    return {v_cycles, 1, report.iterations, report.succeeded(), name(report.outcome)};
}

}  // namespace keel
