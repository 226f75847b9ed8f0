#pragma once

// Full approximation scheme for L u + phi(u) = f: Brandt 1977; Briggs, Henson and McCormick, "A multigrid
// tutorial", 2nd ed., chapter 6. A coarse level solves for the whole u, not for a correction: N_c(v) = mean
// of the residual + N_c(mean of u), and what v has gained over the mean of u is interpolated. The smoother is
// nonlinear Gauss-Seidel in two colours, a step of Newton's method in each cell; the coarsest level is
// relaxed as well.
//
// Communication of a level: that of a linear V-cycle with Gauss-Seidel, and an exchange of the restricted u.
// No all-reduce but for the residual that is tested. Beside the level's a field is kept on every level below
// the finest.

#include <vector>

#include "kernels/bodies/reaction.hpp"
#include "solvers/anderson/anderson.hpp"
#include "solvers/multigrid/hierarchy.hpp"

namespace keel {

class FasMap : public FixedPoint {
  public:
    // The options' pre, post, interpolation and no others play a part, the coarsest level takes
    // `bottom_sweeps`. f: a field of the finest level. The bottom level is where its boxes are. Nothing is
    // owned.
    FasMap(Hierarchy& hierarchy, const MultigridOptions& options, int bottom_sweeps, const Reaction& phi,
           Field f);

    void evaluate(Vector g, Vector u) override;  // g: u after a V-cycle
    // max|f - N(u)| / max|f - N(0)|; of f = N(0), without the quotient.
    bool has_residual() const override { return true; }
    double residual(Vector u) override;
    // u by full multigrid: from the coarsest level up, each begins with what the coarser one found,
    // interpolated linearly, and takes a V-cycle. Needs all_ghosts.
    void start(Vector u);
    // Sweeps on the finest level.
    void smooth(Vector u, int sweeps);

  private:
    template <class Action>
    void with_fields(Vector u, const Action& action);
    void relax(Level& level, int sweeps);
    void cycle(int l);

    Hierarchy& levels_;
    MultigridOptions options_;
    int bottom_sweeps_;
    Reaction phi_;
    Field f_;
    std::vector<Field> restricted_;  // mean of the finer u, by level
    double start_residual_ = 0;      // max|f - N(0)|; 0: not known yet
};

}  // namespace keel
