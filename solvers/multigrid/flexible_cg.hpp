#pragma once

// Conjugate gradients around V-cycles: Notay, "Flexible conjugate gradients", SIAM J. Sci. Comput. 22 (2000),
// 1444-1460, FCG(1). Flexible, because a V-cycle whose bottom solver stops by a tolerance is not the same
// operator twice: a search direction is made orthogonal to the one before by an inner product, not by a rule
// that holds for fixed operators alone.
//
// Per step beside the cycle: 1 application of L (1 exchange), 2 all-reduces of 1 and 2 words (the first step:
// 1), and the residual, anew and stored, by 1 exchange and the all-reduce of its norm. Four vectors.

#include <functional>

#include "solvers/multigrid/level.hpp"
#include "solvers/systems/grid_system.hpp"

namespace keel {

class FlexibleCG {
  public:
    // For L u = f of a level, which must outlive this object.
    explicit FlexibleCG(Level& level);

    void begin();  // from u = 0, or from another one whose residual_norm() is asked for next
    // One step: u is that of the least error in the norm of L along the new direction. False where L or the
    // cycle turned out not to be definite: u is as it was. Collective.
    bool step(const std::function<void(Field z, Field r)>& cycle);  // z = a V-cycle for L z = r from z = 0
    // max|f - L u| by a fresh exchange, and the residual that the next step starts from; +infinity where a
    // value is not finite. Collective.
    double residual_norm();

  private:
    Level& level_;
    GridSystem L_;
    Field r_, z_, p_, Lp_;
    double pLp_ = 0;  // 0: no direction yet
};

}  // namespace keel
