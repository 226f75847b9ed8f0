#pragma once

// A grid that is solved on here in place of that of the virtual ranks: what happens is recorded.

#include <memory>
#include <optional>
#include <string>

#include "comm/ranks/communicator.hpp"
#include "kernels/layout/domain.hpp"
#include "miniapp/prediction/grid_memory.hpp"
#include "miniapp/prediction/grid_solver.hpp"
#include "miniapp/prediction/solve_time.hpp"
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
// Boxes side by side, so many in each direction, with the sides of the grids' domain. Where that misses
// boxes, all sides are Dirichlet ones if it has any, else Neumann ones.
ProxyBoxes side_by_side(const GridSetup& grids, const Index& boxes, int box);

// A proxy solve that was recorded.
struct ProxySolve : SolveCounts {
    Trace trace;  // on this rank
};

class ProxyGrid {
  public:
    // The grids with these boxes, all of them, on the ranks of `comm`. Collective.
    ProxyGrid(const GridSetup& grids, const ProxyBoxes& boxes, const Communicator& comm);

    const GridSetup& grids() const { return grids_; }
    Hierarchy& hierarchy() { return hierarchy_; }
    // The trace of what was done on the hierarchy since the last call.
    Trace take() { return recorder_.take(); }
    // Solves by multigrid with this bottom solver or, in a mode of Krylov methods on the finest grid, by the
    // method. Collective.
    ProxySolve solve(const NamedSolver& solver);

    // These levels of other grids, as a trace on this one shows them: what a rank has there for each box that
    // this rank has here. The finest levels of both are alike if level 0 is among them, else the coarsest.
    Slice slice_of(const GridSetup& grids, const Trace& trace, const LevelRange& levels,
                   double times = 1) const;

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
    Recorder recorder_;
    std::optional<int> first_cycles_;
};

// The estimated size of a proxy solve on the grids with these boxes, on so many ranks, but for its cycles and
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
