#pragma once

// The solver of a mode of grids on a hierarchy: multigrid with a bottom solver or, in a mode of Krylov
// methods on the finest grid, the method. Real solves, proxy solves and counted ones are made by it.

#include <memory>
#include <string>

#include "miniapp/setup/grid_setup.hpp"
#include "solvers/multigrid/multigrid.hpp"

namespace keel {

// Counts of a solve, and its end.
struct SolveCounts {
    int cycles = 0;
    int visits = 0;       // to the bottom
    long iterations = 0;  // of the Krylov method, in all visits
    bool converged = false;
    std::string outcome = {};
};

class GridSolver {
  public:
    // The hierarchy must outlive it. Collective.
    GridSolver(Hierarchy& hierarchy, const GridSetup& grids, const NamedSolver& solver);

    // Solves for the f of a level, the finest with a Krylov method. Collective.
    SolveCounts solve(int level = 0);

  private:
    SolveCounts solve_on_finest();

    Hierarchy& hierarchy_;
    bool by_cycles_;      // whether V-cycles precondition a Krylov method
    bool by_full_cycle_;  // whether one F-cycle is all of a solve
    std::unique_ptr<Preconditioner> M_;
    std::unique_ptr<BottomSolver> krylov_;  // on the finest grid
    std::unique_ptr<Multigrid> multigrid_;
};

}  // namespace keel
