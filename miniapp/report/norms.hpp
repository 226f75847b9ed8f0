#pragma once

// The quotients that tolerances are on, as texts: r is the residual, D the diagonal of the operator.

#include "solvers/krylov/methods.hpp"

namespace keel {

inline constexpr const char* max_norm_quotient = "max|r| / max|f|";

// Of a Krylov method: of 2-norms, for CG's family with bottom.scaling = jacobi those of the scaled system.
inline const char* norm_quotient(const BottomOptions& options) {
    return scaling_of(options) == DiagonalScaling::symmetric ? "|D^-1/2 r| / |D^-1/2 f|" : "|r| / |f|";
}

}  // namespace keel
