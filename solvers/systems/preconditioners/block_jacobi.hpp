#pragma once

// Block Jacobi: the blocks of the operator that the boxes of a level are, each solved by IC(0), the coupling
// between boxes left out. Blocks are boxes and not what a rank has, so that the result does not depend on
// the ranks.
//
// M is symmetric and positive definite, and the eigenvalues of M L lie in (0, 2): L is a symmetric M-matrix
// and the factors of its blocks are a regular splitting of it. Neither exchanges nor all-reduces.

#include "comm/reductions/reduction.hpp"
#include "kernels/operations.hpp"
#include "solvers/systems/preconditioners/preconditioner.hpp"

namespace keel {

class BlockJacobi : public Preconditioner {
  public:
    // Factors; collective over the reduction's ranks, which learn whether a pivot of any box was not
    // positive. Nothing is owned. The operator's coefficients must not change.
    BlockJacobi(Operations& operations, Reduction& reduction, const Stencil& L);

    std::string vanished() const override { return vanished_; }

  private:
    void multiply(Vector z, Vector r) override;

    Operations& operations_;
    Stencil L_;
    Field inverse_;  // inverse pivots
    std::string vanished_;
};

}  // namespace keel
