#pragma once

// Strength of connection: which entries of a matrix say that two rows belong together.

#include <vector>

#include "solvers/amg/options.hpp"
#include "solvers/amg/setup/ghost_values.hpp"

namespace keel {

// Which rows depend on which, -s a_ij >= theta max_k(-s a_ik), s the sign of a_ii: flags of the entries (i, j) of this rank's rows.
struct Dependence {
    std::vector<char> on;            // i depends on j
    std::vector<char> back;          // j depends on i
    std::vector<double> dependents;  // how many rows depend on i

    bool either(std::size_t e) const { return on[e] || back[e]; }
};
// A's pattern is symmetric. Collective.
Dependence dependence(const PartRows& A, GhostValues& ghosts, double theta);

// One flag an entry of this rank's rows of A, whose pattern is symmetric; never on the diagonal.
//   symmetric: |a_ij| >= theta sqrt(|a_ii a_jj|)
//   classical: i depends on j, or j on i
// Collective.
std::vector<char> strong_connections(const PartRows& A, GhostValues& ghosts, StrengthRule rule, double theta);

}  // namespace keel
