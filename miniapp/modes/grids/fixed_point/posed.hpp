#pragma once

// An equation of run.mode = fixed_point on a hierarchy: its right-hand side, its map, and where the iteration
// begins.

#include <memory>
#include <optional>

#include "miniapp/modes/grids/fixed_point/options.hpp"
#include "miniapp/setup/grid_setup.hpp"
#include "solvers/anderson/mixture.hpp"
#include "solvers/multigrid/nonlinear/fas.hpp"
#include "solvers/multigrid/nonlinear/fixed_points.hpp"
#include "solvers/systems/grid_system.hpp"

namespace keel {

class PosedFixedPoint {
  public:
    // Takes problem.rhs from f of the finest level, which the map may overwrite. The hierarchy must outlive
    // this object.
    PosedFixedPoint(Hierarchy& hierarchy, const GridSetup& grids, const FixedPointOptions& equation);

    GridSystem& vectors() { return vectors_; }
    Field u() const { return u_; }
    Field f() const { return f_; }
    FixedPoint& map() const;
    const char* norm_of(const AndersonOptions& options) const;  // the one compared with the tolerance

    // u is where every solve begins. Local.
    void begin();
    // From there, by full multigrid first where multigrid.cycle says so. Collective.
    AndersonReport solve(Anderson& anderson);

    // V-cycles of all solves, and evaluations that missed multigrid.tolerance; none where G does not solve by
    // them.
    std::optional<long> cycles() const;
    std::optional<long> unsolved() const;
    // To the bottom's solver, in all solves.
    long visits() const;

  private:
    Level& top_;
    bool from_full_multigrid_;
    GridSystem vectors_;
    Field u_, f_;
    // One of them.
    std::unique_ptr<Mixture> mixture_;
    std::unique_ptr<FasMap> fas_;
    std::unique_ptr<CycleMap> cycle_;
    std::unique_ptr<SolveMap> solve_;
};

}  // namespace keel
