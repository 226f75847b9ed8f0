#pragma once

#include <memory>

#include "solvers/krylov/krylov.hpp"
#include "solvers/krylov/options.hpp"
#include "solvers/systems/preconditioners/preconditioner.hpp"

namespace keel {

// cg.cpp with a preconditioner, and one of these norms.
std::unique_ptr<KrylovMethod> make_preconditioned_cg(LinearSystem& A, Preconditioner& M, Norm norm);

}  // namespace keel
