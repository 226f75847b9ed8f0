#include "solvers/systems/preconditioners/block_jacobi.hpp"

#include <cmath>

#include "kernels/bodies/block_solve.hpp"

namespace keel {

BlockJacobi::BlockJacobi(Operations& operations, Reduction& reduction, const Stencil& L, BlockSolver solver)
    : operations_(operations), L_(L), solver_(solver) {
    double growth = 0;
    if (solver == BlockSolver::ic0) {
        inverse_ = operations.make_field();
        growth = operations.factor_incompletely(inverse_, L);
    } else {
        factors_ = operations.make_buffer(operations.exact_block_values(), Wire::direct);
        growth = operations.factor_exactly(factors_, L);
    }
    if (!std::isfinite(reduction.max(growth)))
        vanished_ = solver == BlockSolver::ic0 ? "pivot of IC(0)" : "pivot of a block";
}

double BlockJacobi::values_of_box(BlockSolver solver, const Index& extent) {
    return solver == BlockSolver::ic0 ? 0.0 : static_cast<double>(ExactBlocks::values(extent));
}

void BlockJacobi::multiply(Vector z, Vector r) {
    if (solver_ == BlockSolver::ic0)
        operations_.solve_incompletely(z, L_, inverse_, r);
    else
        operations_.solve_exactly(z, factors_, r);
}

}  // namespace keel
