#pragma once

// The V(1,1) cycle of algebraic multigrid: as preconditioner, and as solver by itself.

#include <memory>

#include "solvers/amg/hierarchy.hpp"
#include "solvers/krylov/options.hpp"
#include "solvers/krylov/sparse_krylov.hpp"
#include "solvers/systems/preconditioners/preconditioner.hpp"

namespace keel {

// One cycle from zero. Jacobi smooths with weight 2/3 before and behind, or by l1 norms, Gauss-Seidel forward before and backward
// behind, inside of a rank, with the values that others had before; Chebyshev's polynomial is in D^-1 A: all are symmetric.
//
// Each level but the coarsest: 2 exchanges of ghosts of A, for the first sweep starts from zero, with Chebyshev twice the degree;
// one for P e, and one a stage for P^T r. The coarsest, over the ranks that have rows of it: an all-gather, or a gather and a scatter, or
// what a Krylov method takes; then the cycle varies, and has all-reduces.
class AmgCycle : public Preconditioner {
  public:
    explicit AmgCycle(AmgHierarchy& hierarchy) : hierarchy_(hierarchy) {}  // not owned

    std::string vanished() const override { return hierarchy_.missing(); }
    bool varies() const override { return hierarchy_.varies(); }

  private:
    void multiply(Vector z, Vector r) override { descend(0, z, r); }
    void descend(std::size_t l, Field x, Field b);  // x from zero
    void smooth(AmgLevel& level, Field x, Field b, bool from_zero, bool backward);
    void polynomial(AmgLevel& level, Field x, Field b, bool from_zero);
    void residual(AmgLevel& level, Field x, Field b);

    AmgHierarchy& hierarchy_;
};

// x += M (b - A x), cycle after cycle, as solver of A u = f by the options' tolerance, limit and restarts. Where M could not be
// made, the outcome is a breakdown. The matrix and M must outlive the result. Collective.
std::unique_ptr<BottomSolver> make_amg_solver(SparseMatrix& matrix, AmgCycle& M,
                                              const BottomOptions& options);

}  // namespace keel
