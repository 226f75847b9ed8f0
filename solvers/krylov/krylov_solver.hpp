#pragma once

#include "kernels/field.hpp"
#include "solvers/krylov/krylov.hpp"

namespace keel {

// A Krylov method as solver of the problem L u = f itself, scaling and preconditioner included.
class KrylovSolver {
  public:
    virtual ~KrylovSolver() = default;
    // u = approximately L^-1 f, from a zero guess, with norms of the system that the method sees
    // (scaled_system.hpp); where the problem is singular the mean of f is removed first, in place.
    // Collective.
    virtual Report solve(Field u, Field f) = 0;
};

}  // namespace keel
