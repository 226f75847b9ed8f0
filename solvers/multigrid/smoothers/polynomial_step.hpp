#pragma once

#include "solvers/multigrid/level.hpp"

namespace keel {

// u += p with p = a p + b D^-1 (f - L u), p in the level's r: what smoothers are made of that are polynomials
// in D^-1 L.
inline void polynomial_step(Level& level, Operations& operations, double a, double b) {
    level.ghosts->run(level.u, [&](Part part) {
        operations.polynomial_step(level.r, a, b, level.L.on(part), level.u, level.f);
    });
    operations.axpby(level.u, 1, level.u, 1, level.r);
}

}  // namespace keel
