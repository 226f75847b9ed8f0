#pragma once

// Self-verification of every run.

#include <string>
#include <vector>

#include "miniapp/problem.hpp"
#include "solvers/multigrid.hpp"

namespace keel {

struct Check {
    std::string name;
    bool passed = false;
    double value = 0;
    std::string want;
};

// sqrt(h^3 SUM u^2). Collective.
double l2_norm(Level& level, Field u);

// Checks the solution in the finest u, then the operators; the fields u, f and r of all levels are overwritten.
//   residual_recomputed    max|f - L u| / max|f| by the plain kernels, which the solve's fast paths did not touch
//   operator_symmetry      |(Lx,y) - (x,Ly)| / (|Lx| |y|) for random x, y: the worst level
//   discretisation_order   log2 of the errors at 2h and h; only for a manufactured solution and two levels or more
// Collective.
std::vector<Check> run_checks(Hierarchy& hierarchy, Multigrid& multigrid, const Problem& problem,
                              double tolerance);

}  // namespace keel
