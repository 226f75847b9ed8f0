#pragma once

// Krylov methods on a distributed sparse matrix.

#include <memory>

#include "comm/ranks/communicator.hpp"
#include "solvers/krylov/krylov_solver.hpp"
#include "solvers/krylov/options.hpp"
#include "solvers/systems/sparse/sparse_matrix.hpp"

namespace keel {

// A method as solver of A u = f. The matrix must outlive the result and be scalable where the options scale
// it. Collective.
std::unique_ptr<KrylovSolver> make_krylov(SparseMatrix& matrix, const Communicator& comm,
                                          const BottomOptions& options);
// Vectors that such a solver adds to the matrix.
int krylov_vectors(const BottomOptions& options);

}  // namespace keel
