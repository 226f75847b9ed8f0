#include "solvers/krylov/enlarged/block.hpp"

#include <cmath>
#include <numeric>
#include <utility>

namespace keel {

Block make_block(LinearSystem& A, int columns) {
    Block block;
    for (int n = 0; n < columns; ++n) block.push_back(A.make_vector());
    return block;
}

BlockSum::BlockSum(int most_terms) {
    coefficients_.reserve(static_cast<std::size_t>(most_terms));
    terms_.reserve(static_cast<std::size_t>(most_terms));
}

BlockSum& BlockSum::add(LinearSystem::Vector x, double c) {
    coefficients_.push_back(c);
    terms_.push_back(x);
    return *this;
}

void BlockSum::into(LinearSystem& A, LinearSystem::Vector y) {
    if (terms_.empty())
        A.fill(y, 0.0);
    else
        A.combine(y, coefficients_, terms_);
    coefficients_.clear();
    terms_.clear();
}

BlockProducts::BlockProducts(int most) {
    products_.reserve(static_cast<std::size_t>(most));
    places_.reserve(static_cast<std::size_t>(most));
    sums_.resize(static_cast<std::size_t>(most));
}

void BlockProducts::add(double& result, double& mirrored, LinearSystem::Vector x, LinearSystem::Vector y) {
    products_.push_back({x, y});
    places_.push_back({&result, &mirrored});
}

void BlockProducts::add(double& result, LinearSystem::Vector x, LinearSystem::Vector y) {
    add(result, result, x, y);
}

void BlockProducts::add(Eigen::VectorXd& result, std::span<const LinearSystem::Vector> X,
                        LinearSystem::Vector y) {
    result.setZero();
    for (std::size_t i = 0; i < X.size(); ++i) add(result(static_cast<Eigen::Index>(i)), X[i], y);
}

void BlockProducts::add(Eigen::MatrixXd& result, std::span<const LinearSystem::Vector> X,
                        std::span<const LinearSystem::Vector> Y) {
    result.setZero();
    for (std::size_t i = 0; i < X.size(); ++i)
        for (std::size_t j = 0; j < Y.size(); ++j)
            add(result(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)), X[i], Y[j]);
}

void BlockProducts::add_symmetric(Eigen::MatrixXd& result, std::span<const LinearSystem::Vector> X,
                                  std::span<const LinearSystem::Vector> Y) {
    result.setZero();
    for (std::size_t i = 0; i < X.size(); ++i)
        for (std::size_t j = i; j < Y.size(); ++j) {
            const auto row = static_cast<Eigen::Index>(i);
            const auto column = static_cast<Eigen::Index>(j);
            add(result(row, column), result(column, row), X[i], Y[j]);
        }
}

void BlockProducts::reduce(LinearSystem& A) {
    const auto sums = std::span(sums_).first(products_.size());
    A.dots(products_, sums);
    for (std::size_t n = 0; n < sums.size(); ++n) *places_[n].entry = *places_[n].mirrored = sums[n];
    products_.clear();
    places_.clear();
}

RankRevealing::RankRevealing(int columns)
    : order_(static_cast<std::size_t>(columns)),
      scale_(columns),
      scaled_(columns, columns),
      triangle_(columns, columns),
      B_(columns, columns),
      ldlt_(columns),
      sum_(columns),
      reordered_(static_cast<std::size_t>(columns)) {}

int RankRevealing::factor(const Eigen::MatrixXd& M) {
    constexpr double smallest_pivot = 1e-14;
    rank_ = 0;
    B_.setZero();
    if (!M.allFinite()) return 0;
    const Eigen::Index n = M.rows();
    for (Eigen::Index i = 0; i < n; ++i) scale_(i) = M(i, i) > 0 ? 1 / std::sqrt(M(i, i)) : 0.0;
    for (Eigen::Index j = 0; j < n; ++j)
        for (Eigen::Index i = 0; i < n; ++i) scaled_(i, j) = scale_(i) * M(i, j) * scale_(j);

    // P scaled P^T = L D L^T, the largest remaining pivot first; B = P^T L^-T D^-1/2 of the leading rows.
    ldlt_.compute(scaled_);
    while (rank_ < n && ldlt_.vectorD()(rank_) > smallest_pivot) ++rank_;
    std::iota(order_.begin(), order_.end(), 0);
    const auto& swaps = ldlt_.transpositionsP().indices();
    for (Eigen::Index i = 0; i < n; ++i)
        std::swap(order_[static_cast<std::size_t>(i)], order_[static_cast<std::size_t>(swaps(i))]);
    triangle_.setIdentity();
    ldlt_.matrixLDLT()
        .topLeftCorner(rank_, rank_)
        .transpose()
        .triangularView<Eigen::UnitUpper>()
        .solveInPlace(triangle_.topLeftCorner(rank_, rank_));
    for (Eigen::Index j = 0; j < rank_; ++j)
        for (Eigen::Index i = 0; i <= j; ++i) {
            const Eigen::Index row = order_[static_cast<std::size_t>(i)];
            B_(row, j) = scale_(row) * triangle_(i, j) / std::sqrt(ldlt_.vectorD()(j));
        }
    return rank_;
}

// In the order of its pivots B is upper triangular: column j of Z B needs no column of Z behind it.
void RankRevealing::orthonormalise(LinearSystem& A, Block& Z) {
    for (std::size_t i = 0; i < Z.size(); ++i) reordered_[i] = Z[static_cast<std::size_t>(order_[i])];
    for (int j = rank_ - 1; j >= 0; --j)
        sum_.add_nonzero(Z, B_.col(j)).into(A, reordered_[static_cast<std::size_t>(j)]);
    Z.swap(reordered_);
}

}  // namespace keel
