#pragma once

// The V(1,1) cycle of algebraic multigrid: as preconditioner, and as solver by itself.

#include "solvers/amg/hierarchy.hpp"
#include "solvers/systems/preconditioners/preconditioner.hpp"

namespace keel {

// One cycle from zero, which is symmetric. Jacobi smooths with weight 2/3, less in rows that need it. Gauss-
// Seidel sweeps forward before the correction and backward after it; it reads the old values of other ranks.
//
// Each level but the coarsest: 2 exchanges of ghosts of A, since the first sweep starts from zero, one for P
// e, and one a stage for P^T r. The coarsest level, over the ranks that have rows of it: an all-gather, or a
// gather and a scatter, or conjugate gradients, with which the cycle varies and has all-reduces.
class AmgCycle : public Preconditioner {
  public:
    explicit AmgCycle(AmgHierarchy& hierarchy) : hierarchy_(hierarchy) {}  // not owned

    std::string vanished() const override { return hierarchy_.missing(); }
    bool varies() const override { return hierarchy_.varies(); }

  private:
    void multiply(Vector z, Vector r) override { descend(0, z, r); }
    void descend(std::size_t l, Field x, Field b);  // x from zero
    void smooth(AmgLevel& level, Field x, Field b, bool from_zero, bool backward);
    void residual(AmgLevel& level, Field x, Field b);

    AmgHierarchy& hierarchy_;
};

}  // namespace keel
