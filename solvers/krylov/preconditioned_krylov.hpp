#pragma once

#include <memory>

#include "solvers/krylov/krylov_solver.hpp"
#include "solvers/krylov/options.hpp"
#include "solvers/systems/preconditioners/preconditioner.hpp"

namespace keel {

// A method with a preconditioner as solver of L u = f; L is not scaled, nor do the options scale it. M must outlive the
// result. Throws std::invalid_argument where the method takes no such preconditioner. Collective.
std::unique_ptr<KrylovSolver> make_preconditioned_krylov(std::unique_ptr<LinearSystem> L,
                                                         const BottomOptions& options, Preconditioner& M);

// What is reported where there is no preconditioner after all, for want of what `vanished` names; u becomes zero.
Report unsolved(LinearSystem& L, Field u, const std::string& vanished);

}  // namespace keel
