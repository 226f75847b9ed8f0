#pragma once

// A grid that is solved on here in place of that of the virtual ranks: totals of its reductions are recorded.

#include <memory>
#include <optional>
#include <string>

#include "comm/ranks/communicator.hpp"
#include "kernels/layout/domain.hpp"
#include "miniapp/prediction/counting/counted_grid.hpp"
#include "miniapp/prediction/counting/grid_memory.hpp"
#include "miniapp/prediction/counting/grid_solver.hpp"
#include "miniapp/report/records/records.hpp"
#include "miniapp/setup/grid_setup.hpp"
#include "miniapp/setup/machine/memory.hpp"
#include "miniapp/setup/problem/problem.hpp"

namespace keel {

// Boxes in place of those of the virtual ranks.
struct ProxyBoxes {
    Domain domain;
    int box = 0;  // width of each
};
// Boxes side by side, `boxes` in each direction, with the sides of the grids' domain. Where that misses
// boxes, all sides are Dirichlet ones if it has any, else Neumann ones.
ProxyBoxes side_by_side(const GridSetup& grids, const Index& boxes, int box);

// A proxy solve, and the totals of all its reductions; on rank 0.
struct ProxySolve : SolveCounts {
    SolveTape tape;
};

class ProxyGrid {
  public:
    // The grids with these boxes, all of them, on the ranks of `comm`. Collective.
    ProxyGrid(const GridSetup& grids, const ProxyBoxes& boxes, const Communicator& comm);

    const GridSetup& grids() const { return grids_; }
    Hierarchy& hierarchy() { return hierarchy_; }
    // Records from now on; solvers are made behind it. Rank 0 has the record.
    void record() { tape_.record_anew(); }
    const SolveTape& tape() const { return tape_; }
    // Solves by multigrid with this bottom solver or, in a mode of Krylov methods on the finest grid, by the
    // method. Collective.
    ProxySolve solve(const NamedSolver& solver);

    int first_cycles() const { return first_cycles_.value_or(0); }  // cycles in its first solve
    // "2x2x2 boxes of 8^3 in 2 levels on 2 ranks", and as JSON, with cycles.
    std::string text() const;
    Json json(int cycles) const;

  private:
    GridSetup grids_;
    std::unique_ptr<Backend> backend_;
    Layout finest_;
    Problem problem_;
    Ledger ledger_;
    Hierarchy hierarchy_;
    SolveTape tape_;
    std::optional<int> first_cycles_;
};

// The estimated size of a proxy solve on the grids with these boxes, on `ranks` ranks, but for its cycles and
// iterations; and its cost with a solver.
SolveSize size_of_proxy_solve(const GridSetup& grids, const ProxyBoxes& boxes, int ranks,
                              const MakeSolvers& make);
DryRunCost cost_of_proxy_solve(const GridSetup& grids, const ProxyBoxes& boxes, int ranks,
                               const NamedSolver& solver);

// Why no solve on these grids is predicted, whatever solves; empty if one may be. It follows "no seconds are
// predicted".
std::string why_not_predicted(const GridSetup& grids);
// Why proxy solves of this cost are more than a dry run may take; likewise.
std::string why_not_solved(const DryRunCost& cost, const std::string& remedy, const SharedMemory& memory);

}  // namespace keel
