#pragma once

// A whole solve as one launch of a device, on a level whose boxes one rank has alone: every exchange is
// copies between these boxes, and no all-reduce leaves the rank. One block of threads runs the body that
// ranks run, so the host waits for a report at most, not for each inner product.

#include <cstddef>
#include <vector>

#include "kernels/bodies/diagonal_scaling.hpp"
#include "kernels/bodies/krylov/run.hpp"
#include "kernels/bodies/stencil.hpp"
#include "kernels/layout/field.hpp"

namespace keel {

// The methods that have such a body.
enum class LaunchedMethod { none, bicgstab, bicgstab_fused, cg, pipelined_cg, chebyshev };

// A block of threads takes 15 us for an iteration of BiCGStab on 4,096 cells of an H100 (measured with a
// prototype), and the host 185 us to drive one on any few: larger levels are the host's.
inline constexpr std::size_t most_launched_cells = 16384;

// The room that a launch wants.
struct LaunchNeeds {
    LaunchedMethod method = LaunchedMethod::none;
    int iterations = 0;
};

// The solve of L u = f from u = 0.
struct SingleLaunch {
    LaunchedMethod method = LaunchedMethod::none;
    Stencil L = {};
    DiagonalScaling scaling = DiagonalScaling::none;  // the system's
    Field scale = {};                                 // its diagonal: D^-1 or D^-1/2
    double unit = 1.0;  // power of two, times which D is far from under- and overflow
    Stop stop = {};
    double lowest = 0;  // the interval of a polynomial method
    double highest = 0;
};

struct LaunchedSolve {
    Verdict verdict = {};
    Vanished vanished = {};
    std::vector<double> residuals = {};
};

}  // namespace keel
