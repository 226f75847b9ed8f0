#include "tests/solvers/direct_solve.hpp"

#include <Eigen/Dense>

namespace keel::test {

std::vector<double> direct_solve(const Columns& A, const std::vector<double>& f) {
    const auto size = static_cast<Eigen::Index>(f.size());
    Eigen::MatrixXd dense(size, size);
    for (Eigen::Index j = 0; j < size; ++j)
        dense.col(j) = Eigen::Map<const Eigen::VectorXd>(A[static_cast<std::size_t>(j)].data(), size);
    const Eigen::VectorXd x = dense.partialPivLu().solve(Eigen::Map<const Eigen::VectorXd>(f.data(), size));
    return {x.begin(), x.end()};
}

}  // namespace keel::test
