// Weighted Jacobi: u += weight D^-1 (f - L u). 1 exchange per sweep. Overwrites the level's r.

#include "solvers/multigrid/smoothers/polynomial_step.hpp"
#include "solvers/multigrid/smoothers/smoother.hpp"

namespace keel {
namespace {

void relax(Level& level, Operations& operations, int sweeps, const MultigridOptions& options, Guess) {
    for (int sweep = 0; sweep < sweeps; ++sweep)
        polynomial_step(level, operations, 0.0, options.jacobi_weight);
}

}  // namespace

Smoother jacobi() {
    return {
        .name = "jacobi",
        .meaning = "Jacobi with a weight",
        .keys = {"jacobi_weight"},
        .relax = relax,
    };
}

}  // namespace keel
