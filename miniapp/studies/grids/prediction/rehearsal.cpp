#include "miniapp/studies/grids/prediction/rehearsal.hpp"

#include "solvers/krylov/methods.hpp"
#include "solvers/multigrid/bottom/level_krylov.hpp"
#include "solvers/multigrid/multigrid.hpp"

namespace keel {
namespace {

// Messages travel as they come: what they would cost elsewhere is the plans' matter.
GridSetup with_boxes(GridSetup grids, const Index& boxes, int box, const Communicator& comm) {
    // The same levels as those of all ranks that are imagined.
    grids.hierarchy.agglomerate_as = grids.ranks;
    grids.problem.box = box;
    grids.problem.boxes = boxes;
    grids.domain = Domain(boxes, grids.problem.boundary, grids.problem.dimensions);
    grids.ranks = comm.size();
    grids.rank = comm.rank();
    grids.hierarchy.scheme = {};
    grids.hierarchy.exchange = {};
    grids.hierarchy.persistent = false;
    grids.hierarchy.all_reduce = {};
    return grids;
}

}  // namespace

// The counts are those of every backend; the first one computes on the host.
Rehearsal::Rehearsal(const GridSetup& grids, const Index& boxes, int box, const Communicator& comm)
    : grids_(with_boxes(grids, boxes, box, comm)),
      backend_(make_backend(all_backends().front().name)),
      finest_(grids_.finest()),
      problem_(grids_.problem, finest_),
      ledger_(grids_.levels()),
      hierarchy_(comm, detect_topology(comm), *backend_, finest_, problem_.operator_formulas(),
                 grids_.hierarchy, ledger_),
      recorder_(hierarchy_, ledger_) {
    set_right_side(hierarchy_.level(0), problem_);
}

double Rehearsal::boxes_of_rank(int level) const {
    return static_cast<double>(hierarchy_.level(level).layout.local_count());
}

Rehearsed Rehearsal::solve(const NamedSolver& solver) {
    Level& top = hierarchy_.level(0);
    if (grids_.use.krylov == KrylovLevel::finest) {
        const auto M = make_preconditioner(hierarchy_, grids_.use.preconditioner, grids_.multigrid,
                                           solver.options.sweeps);
        const auto krylov = make_krylov(top, hierarchy_.singular(), solver.options, M.get());
        recorder_.take();  // what was before
        const Report report = krylov->solve(top.u, top.f);
        if (hierarchy_.singular()) remove_mean(top.bottom_operations, *top.reduction, top.u);
        const bool of_cycles = grids_.use.preconditioner.kind == PreconditionerKind::v_cycle;
        const int v_cycles = of_cycles ? static_cast<int>(M->applications()) : 0;
        return {recorder_.take(), v_cycles, 1, report.iterations, report.succeeded(), name(report.outcome)};
    }
    Multigrid multigrid(hierarchy_, grids_.multigrid, solver.options);
    recorder_.take();
    const SolveReport report = multigrid.solve();
    return {recorder_.take(),           report.cycles,      static_cast<int>(report.visits.size()),
            report.bottom_iterations(), report.converged(), name(report.outcome)};
}

}  // namespace keel
