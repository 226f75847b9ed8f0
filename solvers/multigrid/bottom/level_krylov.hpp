#pragma once

// Krylov methods on one level of a hierarchy.

#include <memory>

#include "solvers/krylov/bottom_solver.hpp"
#include "solvers/krylov/options.hpp"
#include "solvers/multigrid/level.hpp"
#include "solvers/systems/preconditioners/preconditioner.hpp"

namespace keel {

// A method as solver of L u = f on a level, which has at least the ghost layers of powers_need(). `singular`:
// constants are in the null space of L. M preconditions L; null: none. Allowed are methods that accept a
// preconditioner, with scaling none and, for s-step methods, without matrix powers; bases are for the
// estimated spectrum of L M; symmetric methods want a symmetric M, a norm that they can test and, for s-step
// methods, gram_precision double. Throws
// std::invalid_argument otherwise. Level and M must outlive the result.
std::unique_ptr<BottomSolver> make_krylov(Level& level, bool singular, const BottomOptions& options,
                                          Preconditioner* M = nullptr);

}  // namespace keel
