#pragma once

// The quotients that tolerances are on, as texts: r is the residual, D the diagonal of the operator.

#include "solvers/krylov/methods.hpp"

namespace keel {

inline constexpr const char* max_norm_quotient = "max|r| / max|f|";

// The quotient of a Krylov method: 2-norms, for CG's family with bottom.scaling = jacobi of the scaled
// system; with a preconditioner M and bottom.norm = natural the norm of M.
inline const char* norm_quotient(const BottomOptions& options) {
    if (options.norm == Norm::natural) return "sqrt(r . M r) / sqrt(f . M f)";
    return scaling_of(options) == DiagonalScaling::symmetric ? "|D^-1/2 r| / |D^-1/2 f|" : "|r| / |f|";
}

}  // namespace keel
