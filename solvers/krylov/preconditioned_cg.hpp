#pragma once

#include <memory>

#include "solvers/krylov/krylov.hpp"
#include "solvers/systems/preconditioner.hpp"

namespace keel {

// cg.cpp with a preconditioner.
std::unique_ptr<KrylovMethod> make_preconditioned_cg(LinearSystem& A, Preconditioner& M);

}  // namespace keel
