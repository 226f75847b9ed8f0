#pragma once

// Rules on the keys of run.mode = spmv.

#include "miniapp/deck/rules.hpp"

namespace keel {

// Reads a matrix file.
void check_matrix(Rules& rules, const Parameters& parameters, int ranks);

}  // namespace keel
