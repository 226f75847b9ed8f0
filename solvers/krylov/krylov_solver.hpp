#pragma once

#include "kernels/layout/field.hpp"
#include "solvers/krylov/krylov.hpp"

namespace keel {

// A Krylov method as solver of the problem L u = f itself, scaling and preconditioner included.
class KrylovSolver {
  public:
    virtual ~KrylovSolver() = default;
    // u = approximately L^-1 f, from a zero guess, with norms of the system that the method sees
    // (scaled_system.hpp). f is not changed; where the problem is singular it has no mean. Collective.
    virtual Report solve(Field u, Field f) = 0;
    // The level has other coefficients now, in the same fields. Local.
    virtual void update() = 0;
};

}  // namespace keel
