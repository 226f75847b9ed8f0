#include <Eigen/SVD>
#include <cmath>

#include "solvers/orthogonalise/qr.hpp"

namespace keel {

double condition_of(const SmallMatrix& R, std::size_t k) {
    const auto n = static_cast<Eigen::Index>(k);
    Eigen::MatrixXd M(n, n);
    for (std::size_t i = 0; i < k; ++i)
        for (std::size_t j = 0; j < k; ++j)
            M(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = i <= j ? R(i, j) : 0.0;
    // Rounding may leave the least singular value of a singular triangle other than zero.
    if (!M.allFinite() || (M.diagonal().array() == 0).any()) return HUGE_VAL;
    const Eigen::VectorXd values =
        Eigen::JacobiSVD<Eigen::MatrixXd, Eigen::NoQRPreconditioner>(M).singularValues();
    return values(n - 1) > 0 ? values(0) / values(n - 1) : HUGE_VAL;
}

}  // namespace keel
