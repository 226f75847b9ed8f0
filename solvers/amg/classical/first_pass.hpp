#pragma once

// The first pass of classical coarsening: Ruge, Stueben, "Algebraic multigrid", in: McCormick (ed.),
// Multigrid methods, SIAM 1987.

#include <cstddef>
#include <vector>

#include "solvers/amg/setup/strength.hpp"

namespace keel {

// The C rows that a rank finds among its rows, ascending, blind to others. Row by row that becomes C on which
// most undecided and, twice over, F rows depend, of equal ones that which has been worth so much for longest,
// at first the lower; all that depend on it become F. It ends when no such row depends on any undecided one.
std::vector<std::size_t> first_pass(const PartRows& A, const Dependence& strong);

}  // namespace keel
