#pragma once

#include <cstdint>
#include <vector>

#include "solvers/systems/sparse/sparse_matrix.hpp"

namespace keel {

// The reverse Cuthill-McKee order of a whole matrix' graph, both triangles together: the old number of each
// new row. Components follow each other, each from a pseudo-peripheral row (George, Liu, "An implementation
// of a pseudoperipheral node finder", ACM Trans. Math. Softw. 1979).
std::vector<std::int64_t> reverse_cuthill_mckee(const GlobalRows& A);

}  // namespace keel
