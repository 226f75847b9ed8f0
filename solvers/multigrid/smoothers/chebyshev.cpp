// Chebyshev: n sweeps are the polynomial of degree n in D^-1 L that is least on [bound / 8, bound] (Saad,
// Iterative Methods for Sparse Linear Systems, 2nd ed., Alg. 12.1). 1 exchange per sweep. Overwrites the
// level's r.

#include "solvers/multigrid/smoothers/polynomial_step.hpp"
#include "solvers/multigrid/smoothers/smoother.hpp"

namespace keel {
namespace {

void relax(Level& level, Operations& operations, int sweeps, const MultigridOptions&, Guess) {
    constexpr double ratio = 8;
    const double upper = level.jacobi_bound;
    const double lower = upper / ratio;
    const double theta = (upper + lower) / 2;
    const double delta = (upper - lower) / 2;
    const double sigma = theta / delta;
    double rho = 1 / sigma;
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        if (sweep == 0) {
            polynomial_step(level, operations, 0.0, 1 / theta);
            continue;
        }
        const double next = 1 / (2 * sigma - rho);
        polynomial_step(level, operations, next * rho, 2 * next / delta);
        rho = next;
    }
}

}  // namespace

Smoother chebyshev() {
    return {
        .name = "chebyshev",
        .meaning = "Chebyshev polynomials that damp [bound / 8, bound] of the spectrum of D^-1 L",
        .relax = relax,
    };
}

}  // namespace keel
