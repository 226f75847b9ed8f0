#include "solvers/systems/preconditioners/block_jacobi.hpp"

#include <cmath>

namespace keel {

BlockJacobi::BlockJacobi(Operations& operations, Reduction& reduction, const Stencil& L)
    : operations_(operations), L_(L), inverse_(operations.make_field()) {
    if (!std::isfinite(reduction.max(operations.factor_blocks(inverse_, L)))) vanished_ = "pivot of IC(0)";
}

void BlockJacobi::multiply(Vector z, Vector r) {
    operations_.solve_blocks(z, inverse_, L_, r);
}

}  // namespace keel
