#include "solvers/multigrid/nonlinear/fixed_points.hpp"

namespace keel {

SolveMap::SolveMap(Hierarchy& hierarchy, const MultigridOptions& options, const BottomOptions& bottom,
                   const Reaction& phi, Field f)
    : finest_(hierarchy.level(0)), multigrid_(hierarchy, options, bottom), phi_(phi), f_(f) {}

void SolveMap::evaluate(Vector g, Vector u) {
    finest_.operations.add_reaction(finest_.f, f_, -1, phi_, u);
    const SolveReport report = multigrid_.solve();
    *work_.cycles += report.cycles;
    work_.visits += static_cast<long>(report.visits.size());
    *work_.bottom_iterations += report.bottom_iterations();
    if (!report.converged()) ++*work_.unsolved;
    finest_.operations.copy(g, finest_.u);
}

CycleMap::CycleMap(Hierarchy& hierarchy, const MultigridOptions& options, const BottomOptions& bottom)
    : finest_(hierarchy.level(0)), singular_(hierarchy.singular()), multigrid_(hierarchy, options, bottom) {}

void CycleMap::evaluate(Vector g, Vector u) {
    finest_.operations.copy(g, u);
    multigrid_.cycle(g, finest_.f, Guess::any);
    ++work_.visits;
    *work_.bottom_iterations += multigrid_.bottom_iterations();
    if (singular_) remove_mean(finest_.operations, *finest_.reduction, g);
}

double CycleMap::residual(Vector u) {
    if (norm_f_ == 0) {
        norm_f_ = max_norm(finest_, finest_.f);
        if (norm_f_ == 0) norm_f_ = 1;  // f = 0, which u = 0 solves
    }
    double norm = 0;
    finest_.ghosts->run(u);
    finest_.operations.residual_norm(finest_.L, u, finest_.f, norm);
    return finest_.reduction->max(norm) / norm_f_;
}

}  // namespace keel
