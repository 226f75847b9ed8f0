#include "solvers/krylov/sparse_krylov.hpp"

#include "solvers/krylov/methods.hpp"
#include "solvers/systems/sparse/sparse_system.hpp"

namespace keel {

std::unique_ptr<BottomSolver> make_krylov(SparseMatrix& matrix, const Communicator& comm,
                                          const BottomOptions& options) {
    const DiagonalScaling scaling = scaling_of(options);
    return std::make_unique<BottomSolver>(
        std::make_unique<SparseSystem>(matrix, scaling, static_cast<std::size_t>(vectors_at_once(options))),
        options, [bounds = matrix.spectrum(comm, scaling)] { return bounds; });
}

std::unique_ptr<BottomSolver> make_krylov(SparseMatrix& matrix, const BottomOptions& options,
                                          Preconditioner& M) {
    return std::make_unique<BottomSolver>(
        std::make_unique<SparseSystem>(matrix, DiagonalScaling::none,
                                       static_cast<std::size_t>(vectors_at_once(options))),
        options, M);
}

int krylov_vectors(const BottomOptions& options) {
    return BottomSolver::vectors(options) + SparseSystem::fields(scaling_of(options));
}

}  // namespace keel
