#pragma once

// Self-verification of every run.

#include <span>
#include <vector>

#include "miniapp/report/findings.hpp"
#include "miniapp/setup/problem/problem.hpp"
#include "solvers/krylov/options.hpp"
#include "solvers/multigrid/multigrid.hpp"
#include "solvers/systems/preconditioners/preconditioner.hpp"

namespace keel {

// sqrt(h^3 SUM u^2), in two dimensions with h^2. Collective.
double l2_norm(Level& level, Field u);

// The L2 norm of u's error on a level, of cells `ratio` finest cells wide, against the known solution, the
// mean removed where the problem leaves it open. Overwrites r. Collective.
double error_of(Level& level, const Problem& problem, int ratio);

// |f - L u| / |f| by the plain kernels, which the solve's fast paths did not touch, and with all of a where
// the diagonal has lost a part of it that matters. In the maximum norm, or in that of the Krylov method's
// tolerance. Both may overwrite u, and overwrite r. Collective, as all checks.
Check residual_recomputed(Level& level, const Problem& problem, double tolerance);
Check residual_recomputed(Level& level, const Problem& problem, const BottomOptions& options,
                          Preconditioner* M = nullptr);

// log2 of the errors at 2h and h of a manufactured solution on three levels or more, both solved to the
// tolerance; u of the finest holds the one at h. A grid that is too coarse to tell, or a tolerance too loose,
// passes, and says so.
Check discretisation_order(Hierarchy& hierarchy, Multigrid& multigrid, const Problem& problem,
                           double tolerance);

// f and the operator of the finest level are still what the formulas of the problem say: the greatest
// difference, relative to the greatest value. A problem that was changed in memory during the run would else
// be solved in its place, validly. Evaluates each formula once a cell or face. Overwrites u and r of the
// finest level, ghosts included.
Check problem_unchanged(Hierarchy& hierarchy, const Problem& problem);

// Repeats of a solve led to the same |u|, to the last bit, as run.deterministic promises.
Check repeats_equal(std::span<const double> u_l2);
template <class Solve>
std::vector<double> norms_of(const std::vector<Solve>& solves) {
    std::vector<double> norms;
    for (const Solve& solve : solves) norms.push_back(solve.u_l2);
    return norms;
}

// For x, y without structure: |(Lx,y) - (x,Ly)| / (|Dx| |y|) of the worst level, with the diagonal D of L,
// since L may be nothing but rounding (one periodic cell, a = 0); and |(Mx,y) - (x,My)| / (|Mx| |y|) on the
// finest level. Both overwrite u, f and r of all levels.
Check operator_symmetry(Hierarchy& hierarchy);
Check preconditioner_symmetry(Hierarchy& hierarchy, Preconditioner& M);

}  // namespace keel
