#pragma once

// Block Jacobi: the blocks of the operator that the boxes of a level are, each solved with, the coupling
// between boxes left out. Blocks are boxes and not what a rank has, so that the result does not depend on
// the ranks.
//
// M is symmetric and positive definite, and the eigenvalues of M L lie in (0, 2): L is a symmetric M-matrix
// and the blocks, exact or IC(0), are a regular splitting of it. Neither exchanges nor all-reduces.

#include "comm/reductions/reduction.hpp"
#include "kernels/operations.hpp"
#include "solvers/systems/preconditioners/preconditioner.hpp"

namespace keel {

class BlockJacobi : public Preconditioner {
  public:
    // Factors; collective over the reduction's ranks, which learn whether a pivot of any box was not
    // positive. Nothing is owned. The operator's coefficients must not change.
    BlockJacobi(Operations& operations, Reduction& reduction, const Stencil& L, BlockSolver solver);

    std::string vanished() const override { return vanished_; }

    // Its memory: grid-sized arrays, and values for each box besides.
    static int fields(BlockSolver solver) { return solver == BlockSolver::ic0 ? 1 : 0; }
    static double values_of_box(BlockSolver solver, const Index& extent);

  private:
    void multiply(Vector z, Vector r) override;

    Operations& operations_;
    Stencil L_;
    BlockFactors factors_;
    std::string vanished_;
};

}  // namespace keel
