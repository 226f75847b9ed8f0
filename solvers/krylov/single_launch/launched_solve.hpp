#pragma once

// A whole solve as one launch of a device, on a level whose boxes one rank has alone: every exchange is
// copies between these boxes, and no all-reduce leaves the rank. One block of threads runs the loop that
// ranks run, so the host waits for a report at most, not for each inner product.

#include <cstddef>
#include <functional>

#include "kernels/bodies/powers.hpp"
#include "kernels/layout/field.hpp"
#include "kernels/single_launch.hpp"
#include "solvers/krylov/run.hpp"

namespace keel {

// The methods whose loop launch.hpp has.
enum class LaunchedMethod { none, bicgstab, bicgstab_fused, cg, pipelined_cg, chebyshev };

// Vectors that a launch has: scaled, b, y, r and best of verify-and-restart, and those of the method.
inline constexpr std::size_t launched_outside = 5;
inline constexpr std::size_t launched_vectors = launched_outside + 5;

// The solve of L u = f from u = 0.
struct LaunchedSolve {
    LaunchedMethod method = LaunchedMethod::none;
    Field u = {}, f = {};
    Stop stop = {};
    double lowest = 0, highest = 0;  // the interval of a polynomial method
    // --- The system
    ScaledStencil A = {};
    double unit = 1.0;  // power of two, times which D is far from under- and overflow
    std::size_t dimensions = 3;
    std::function<void()> by_host = {};  // the same solve, driven by the host
};

// The first values of a result. The residuals lie behind it.
struct LaunchedVerdict {
    Verdict verdict;
    Vanished vanished;
};

}  // namespace keel
