#pragma once

// A solve on the ranks of this run that stands for one on virtual ranks: its events are recorded.

#include <span>
#include <string>

#include "comm/ranks/communicator.hpp"
#include "miniapp/prediction/trace.hpp"
#include "miniapp/setup/grid_setup.hpp"
#include "miniapp/setup/machine/dry_run_cost.hpp"
#include "miniapp/setup/problem/problem.hpp"

namespace keel {

// What one of its solves did.
struct Rehearsed {
    Trace trace;  // on this rank
    int cycles = 0;
    int visits = 0;       // to the bottom
    long iterations = 0;  // of the Krylov method, in all visits
    bool converged = false;
    std::string outcome;
};

class Rehearsal {
  public:
    // The grids with these boxes, all of them, so wide, on the ranks of `comm`. Collective.
    Rehearsal(const GridSetup& grids, const Index& boxes, int box, const Communicator& comm);

    const GridSetup& grids() const { return grids_; }
    // On this rank, which has some.
    double boxes_of_rank(int level = 0) const;
    Hierarchy& hierarchy() { return hierarchy_; }
    // What was done on the hierarchy since the last one.
    Trace take() { return recorder_.take(); }
    // Multigrid with this solver at the bottom or, in a mode of Krylov methods on the finest grid, that. Collective.
    Rehearsed solve(const NamedSolver& solver);

  private:
    GridSetup grids_;
    std::unique_ptr<Backend> backend_;
    Layout finest_;
    Problem problem_;
    Ledger ledger_;
    Hierarchy hierarchy_;
    Recorder recorder_;
};

// What it takes, by estimate, to solve with each of these solvers on the grids with these boxes, on so many
// ranks.
DryRunCost cost_of_rehearsal(const GridSetup& grids, const Index& boxes, int box, int ranks,
                             std::span<const NamedSolver> solvers);

}  // namespace keel
