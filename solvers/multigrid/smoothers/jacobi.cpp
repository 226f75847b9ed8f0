// Weighted Jacobi: u += 2/3 D^-1 (f - L u). 1 exchange per sweep. Overwrites the level's r.

#include "solvers/multigrid/smoothers/polynomial_step.hpp"
#include "solvers/multigrid/smoothers/smoother.hpp"

namespace keel {
namespace {

void relax(Level& level, Operations& operations, int sweeps, const MultigridOptions&, Guess) {
    constexpr double weight = 2.0 / 3.0;
    for (int sweep = 0; sweep < sweeps; ++sweep) polynomial_step(level, operations, 0.0, weight);
}

}  // namespace

Smoother jacobi() {
    return {
        .name = "jacobi",
        .meaning = "Jacobi of weight 2/3",
        .relax = relax,
    };
}

}  // namespace keel
