#pragma once

#include <vector>

namespace keel::test {

using Columns = std::vector<std::vector<double>>;  // a dense matrix, column after column

// The x with A x = f, by Eigen's LU factorisation with partial pivoting.
std::vector<double> direct_solve(const Columns& A, const std::vector<double>& f);

}  // namespace keel::test
