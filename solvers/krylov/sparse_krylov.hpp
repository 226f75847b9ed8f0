#pragma once

// Krylov methods on a distributed sparse matrix.

#include <memory>

#include "comm/ranks/communicator.hpp"
#include "solvers/krylov/bottom_solver.hpp"
#include "solvers/krylov/options.hpp"
#include "solvers/systems/sparse/sparse_matrix.hpp"

namespace keel {

// A method as solver of A u = f. The matrix must outlive the result and be scalable if the options scale
// it. Collective.
std::unique_ptr<BottomSolver> make_krylov(SparseMatrix& matrix, const Communicator& comm,
                                          const BottomOptions& options);
// The same with a preconditioner (BottomSolver), which must outlive the result, too.
std::unique_ptr<BottomSolver> make_krylov(SparseMatrix& matrix, const BottomOptions& options,
                                          Preconditioner& M);
// Vectors that a solver without preconditioner adds to the matrix.
int krylov_vectors(const BottomOptions& options);

}  // namespace keel
