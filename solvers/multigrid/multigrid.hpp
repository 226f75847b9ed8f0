#pragma once

// Geometric multigrid: V-cycles, and full multigrid followed by V-cycles.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "solvers/multigrid/bottom/bottom.hpp"
#include "solvers/multigrid/flexible_cg.hpp"
#include "solvers/multigrid/hierarchy.hpp"
#include "solvers/multigrid/options.hpp"
#include "solvers/multigrid/smoothers/smoother.hpp"

namespace keel {

struct SolveReport {
    Outcome outcome = Outcome::iteration_limit;  // of cycles; breakdown: a residual that is not finite
    int cycles = 0;
    std::vector<double> residuals;  // max|f - L u| / max|f| after each cycle; entry 0 is before the first
    // How many cycles each of them is after: 0, 1, 2, ..., with cycles in single precision some of these.
    std::vector<int> measured_after;
    std::vector<BottomSolver::Visit> visits;  // to the bottom, in order

    // Of a solve that stagnated: what rounding alone may leave of the residual, eps |L| max|u| / max|f|, with |L|
    // the largest sum of magnitudes in a row.
    std::optional<double> floor = {};

    bool converged() const { return outcome == Outcome::converged; }
    // Bottom solves whose |f - L u| / |f|, in 2-norms, missed their tolerance, whatever norm their method stops by.
    int missed_bottoms() const;
    int bottom_iterations() const;  // in all visits
};

class Multigrid {
  public:
    // The hierarchy must outlive this object. Cycle "F" and linear interpolation need its all_ghosts, tau-extrapolation two
    // layers of them.
    Multigrid(Hierarchy& hierarchy, const MultigridOptions& options, const BottomOptions& bottom);

    // Solves L u = f on level `finest`, whose f is given (and solvable where the problem is singular:
    // make_solvable) and not changed, from u = 0 until max|f - L u| <= tolerance max|f| or cycles no longer gain.
    // Overwrites u, f and r of all coarser levels. Collective over the level's ranks; where cycles gain little, with an all-reduce more.
    // Guess::any: from u as it is, with which full multigrid does nothing; residuals[0] is then that of u.
    SolveReport solve(int finest = 0, Guess guess = Guess::zero);

    // To be called after each cycle of a solve, or stage of cycles, whose residual is known then.
    void after_cycles(std::function<void()> told) { told_ = std::move(told); }

    // The hierarchy has other coefficients now. Collective.
    void update() {
        if (bottom_) bottom_->update();
    }

    // Of its bottom solver: BottomSolver::algebraic().
    AlgebraicCycle* algebraic() { return bottom_ ? bottom_->algebraic() : nullptr; }

    // u = one V-cycle for L u = f from u = 0. u and f: fields of the finest level; f is not changed unless
    // there is but one level. Overwrites the level's r and u, f, r of the coarser ones. Collective.
    void cycle(Field u, Field f);
    // The same from the u that is given: u is the better by a V-cycle.
    void improve(Field u, Field f);

    // u of level `finest` by one full multigrid cycle for its f, as solve() begins with cycle "F", but without the norms and
    // all-reduces of a stopping test. Returns the visits to the bottom. Needs the hierarchy's all_ghosts. Collective.
    std::vector<BottomSolver::Visit> full_cycle(int finest = 0);

    // max|f - L u| on a level by a fresh exchange; +infinity where a value is not finite. Collective.
    double residual_norm(int level);

  private:
    void solve_bottom();
    // What the coarser levels of a cycle solve for: the correction of the fine solution, or what brings that to fourth order.
    enum class CoarseGoal { correction, extrapolation };

    void take_over(int l, CoarseGoal goal = CoarseGoal::correction);
    void interpolate(int l, Interpolation interpolation, std::optional<Colour> colour = std::nullopt);
    void begin_from_below(int l);
    void keep_coarse_residual(int l);
    void correct(int finest, Field r, double norm, int cycles, bool first);
    double stored_residual_norm(Level& level);
    void v_cycle(int l, Guess guess, CoarseGoal goal = CoarseGoal::correction, double* norm = nullptr);
    void v_cycle_for(int l, Field u, Field f, Guess guess = Guess::zero);
    FlexibleCG* accelerator(int l);
    void full_multigrid(int finest);
    double rounding_floor(Level& level, double norm_f);

    Hierarchy& levels_;
    MultigridOptions options_;
    std::unique_ptr<BottomSolver> bottom_;  // null on ranks without the bottom level
    std::vector<BottomSolver::Visit> visits_;
    std::function<void()> told_;
    std::vector<std::unique_ptr<FlexibleCG>> accelerators_;  // by level, made when asked for
};

}  // namespace keel
