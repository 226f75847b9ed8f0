#pragma once

// Block Jacobi for sparse matrices: the rows of each rank, without its ghosts, are a block, factored as L L^T
// by IC(0), incomplete Cholesky without fill (Saad, Iterative Methods for Sparse Linear Systems, 2nd ed.,
// section 10.3). M = (L L^T)^-1 is symmetric and depends on the number of ranks; it takes neither exchanges
// nor all-reduces. Weakness: a triangular solve is a sweep of Gauss-Seidel with the factor, which one thread
// does.

#include <string>

#include "solvers/systems/preconditioners/preconditioner.hpp"
#include "solvers/systems/sparse/sparse_matrix.hpp"

namespace keel {

class BlockIncompleteCholesky : public Preconditioner {
  public:
    // Factors; `rows` are this rank's of the matrix, which is symmetric. The matrix and the ledger must
    // outlive this object. Collective: all ranks learn whether a pivot of any was not positive.
    BlockIncompleteCholesky(const Communicator& comm, SparseMatrix& A, const GlobalRows& rows,
                            Ledger& ledger);

    std::string vanished() const override { return vanished_; }

  private:
    void multiply(Vector z, Vector r) override;

    Operations& operations_;
    Ledger& ledger_;
    SparseRows L_, transposed_;
    std::string vanished_;
};

}  // namespace keel
