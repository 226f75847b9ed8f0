#pragma once

// Strength of connection: which entries of a matrix connect two rows strongly.

#include <vector>

#include "solvers/amg/options.hpp"
#include "solvers/amg/setup/ghost_values.hpp"

namespace keel {

// Classical strength: row i depends on row j where -s a_ij >= theta max_k(-s a_ik), s the sign of a_ii. The
// flags are those of the entries (i, j) of this rank's rows.
struct Dependence {
    std::vector<char> on;            // i depends on j
    std::vector<char> back;          // j depends on i
    std::vector<double> dependents;  // the number of rows that depend on i

    bool either(std::size_t e) const { return on[e] || back[e]; }
};
// A's pattern is symmetric. Collective.
Dependence dependence(const PartRows& A, GhostValues& ghosts, double theta);

// Symmetric strength, |a_ij| >= theta sqrt(|a_ii a_jj|): a flag for each entry of this rank's rows, never set
// on the diagonal. A's pattern is symmetric. Collective.
std::vector<char> strong_connections(const PartRows& A, GhostValues& ghosts, double theta);
// The same by classical strength of either row, RAPtor's symmetric strength: it also connects neighbours in
// matrices whose rows have many equal entries, each small beside the diagonal.
std::vector<char> strong_for_either(const PartRows& A, GhostValues& ghosts, double theta);

}  // namespace keel
