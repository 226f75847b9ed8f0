#pragma once

// Block vectors of enlarged methods, that is, spans of vectors taken as the columns of a matrix, and
// small matrices that every rank holds. Sizes are set at construction; nothing here allocates after it.

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <span>
#include <vector>

#include "solvers/systems/linear_system.hpp"

namespace keel {

using Block = std::vector<LinearSystem::Vector>;
Block make_block(LinearSystem& A, int columns);

// The leading columns of a block.
inline std::span<const LinearSystem::Vector> first(const Block& block, int columns) {
    return std::span(block).first(static_cast<std::size_t>(columns));
}

// y = X c + Y d + ..., gathered term by term.
class BlockSum {
  public:
    explicit BlockSum(int most_terms);

    BlockSum& add(LinearSystem::Vector x, double c = 1.0);
    template <class Column>  // X c
    BlockSum& add(std::span<const LinearSystem::Vector> X, const Eigen::MatrixBase<Column>& c,
                  double sign = 1.0) {
        for (std::size_t i = 0; i < X.size(); ++i) add(X[i], sign * c(static_cast<Eigen::Index>(i)));
        return *this;
    }
    template <class Column>  // X c without the vectors whose coefficients are zero
    BlockSum& add_nonzero(std::span<const LinearSystem::Vector> X, const Eigen::MatrixBase<Column>& c) {
        for (std::size_t i = 0; i < X.size(); ++i)
            if (const double value = c(static_cast<Eigen::Index>(i)); value != 0.0) add(X[i], value);
        return *this;
    }
    // y may be among the terms. Leaves none.
    void into(LinearSystem& A, LinearSystem::Vector y);

  private:
    std::vector<double> coefficients_;
    std::vector<LinearSystem::Vector> terms_;
};

// Inner products of block vectors, gathered and then formed with one all-reduce. The matrices they go to must
// be as large as the blocks have columns; what lies beyond the blocks' columns becomes zero.
class BlockProducts {
  public:
    explicit BlockProducts(int most);

    void add(Eigen::MatrixXd& result, std::span<const LinearSystem::Vector> X,
             std::span<const LinearSystem::Vector> Y);
    // X^T Y where it is known to be symmetric: only the upper triangle is formed.
    void add_symmetric(Eigen::MatrixXd& result, std::span<const LinearSystem::Vector> X,
                       std::span<const LinearSystem::Vector> Y);
    void add(Eigen::VectorXd& result, std::span<const LinearSystem::Vector> X, LinearSystem::Vector y);
    void add(double& result, LinearSystem::Vector x, LinearSystem::Vector y);
    // Collective. Leaves none to be formed.
    void reduce(LinearSystem& A);

  private:
    struct Place {
        double* entry;
        double* mirrored;
    };

    void add(double& result, double& mirrored, LinearSystem::Vector x, LinearSystem::Vector y);

    std::vector<Product> products_;
    std::vector<Place> places_;
    std::vector<double> sums_;
};

// Makes the columns of a block orthonormal in the inner product of A, leaving out those that depend on the
// others: for M = Z^T A Z the matrix B with B^T M B = I, by Cholesky's factorisation with pivoting of M
// scaled to a unit diagonal (so that a column that is merely small is kept). A pivot of 1e-14 or less ends
// it.
class RankRevealing {
  public:
    explicit RankRevealing(int columns);

    // The rank, 0 too where an entry of M is not finite. M may be larger than the block, with zeros there.
    int factor(const Eigen::MatrixXd& M);
    int rank() const { return rank_; }
    const Eigen::MatrixXd& B() const { return B_; }  // rank columns, zeros behind them

    // Z := Z B in place: rank columns, and behind them what is left of Z.
    void orthonormalise(LinearSystem& A, Block& Z);

  private:
    int rank_ = 0;
    std::vector<int> order_;  // columns by their pivots
    Eigen::VectorXd scale_;
    Eigen::MatrixXd scaled_, triangle_, B_;
    Eigen::LDLT<Eigen::MatrixXd> ldlt_;
    BlockSum sum_;
    Block reordered_;
};

}  // namespace keel
