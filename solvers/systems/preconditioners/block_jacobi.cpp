#include "solvers/systems/preconditioners/block_jacobi.hpp"

#include <cmath>

#include "kernels/bodies/block_solve.hpp"

namespace keel {

BlockJacobi::BlockJacobi(Operations& operations, Reduction& reduction, const Stencil& L, BlockSolver solver)
    : operations_(operations), L_(L), factors_{.solver = solver} {
    if (solver == BlockSolver::ic0)
        factors_.inverse = operations.make_field();
    else
        factors_.entries = operations.make_buffer(operations.exact_block_values(), Wire::direct);
    if (!std::isfinite(reduction.max(operations.factor_blocks(factors_, L))))
        vanished_ = solver == BlockSolver::ic0 ? "pivot of IC(0)" : "pivot of a block";
}

double BlockJacobi::values_of_box(BlockSolver solver, const Index& extent) {
    return solver == BlockSolver::ic0 ? 0.0 : static_cast<double>(ExactBlocks::values(extent));
}

void BlockJacobi::multiply(Vector z, Vector r) {
    operations_.solve_blocks(z, factors_, L_, r);
}

}  // namespace keel
