#pragma once

// Equations on the finest level of a hierarchy as fixed points that Anderson acceleration can be put around.

#include "kernels/bodies/reaction.hpp"
#include "solvers/anderson/anderson.hpp"
#include "solvers/multigrid/multigrid.hpp"

namespace keel {

// L u + phi(u) = f by G(u) = L^-1 (f - phi(u)), solved by V-cycles from zero to the tolerance of the options.
class SolveMap : public FixedPoint {
  public:
    // f: a field of the finest level other than its own, which are overwritten. Nothing is owned. L is not
    // singular.
    SolveMap(Hierarchy& hierarchy, const MultigridOptions& options, const BottomOptions& bottom,
             const Reaction& phi, Field f);

    void evaluate(Vector g, Vector u) override;
    MapWork work() const override { return work_; }

  private:
    Level& finest_;
    Multigrid multigrid_;
    Reaction phi_;
    Field f_;
    MapWork work_{.cycles = 0, .unsolved = 0, .bottom_iterations = 0};
};

// L u = f by one V-cycle from u; what is tested is max|f - L u| / max|f|. Without acceleration, multigrid.
class CycleMap : public FixedPoint {
  public:
    // f is the level's own; solvable where the problem is singular (make_solvable).
    CycleMap(Hierarchy& hierarchy, const MultigridOptions& options, const BottomOptions& bottom);

    void evaluate(Vector g, Vector u) override;
    bool has_residual() const override { return true; }
    double residual(Vector u) override;
    MapWork work() const override { return work_; }

  private:
    Level& finest_;
    bool singular_;
    Multigrid multigrid_;
    MapWork work_{.bottom_iterations = 0};
    double norm_f_ = 0;  // 0: not known yet
};

}  // namespace keel
