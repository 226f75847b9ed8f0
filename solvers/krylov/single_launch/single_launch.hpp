#pragma once

#include "solvers/krylov/krylov.hpp"
#include "solvers/krylov/options.hpp"
#include "solvers/krylov/single_launch/launched_solve.hpp"
#include "solvers/systems/linear_system.hpp"

namespace keel {

// Whether this rank has the system alone, on a device that has such launches, and the method a loop for them.
// Set-up only.
bool prepare_single_launch(LinearSystem& A, const BottomOptions& options);

// Operations on u may follow at once. The report comes before the next such solve begins.
void begin_single_launch(LinearSystem& A, LaunchedSolve solve);
std::optional<Report> finish_single_launch(LinearSystem& A);  // none if the host solved

}  // namespace keel
