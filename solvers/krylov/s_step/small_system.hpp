#pragma once

// The small systems of methods that take s directions at a time. A block of directions is R + P B, which is
// A-orthogonal to the directions P of the block before, and x moves by (R + P B) alpha:
//     W_old B = -C, C = P^T A R;   W = R^T A R + C^T B + B^T C + B^T W_old B;   W alpha = R^T r + B^T P^T r.
// W and the right-hand side hold for any B, so neither B nor alpha need be exact.

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include "solvers/krylov/options.hpp"

namespace keel {

// A symmetric positive definite matrix of up to s rows, scaled to a unit diagonal, and solves with it.
class ScaledMatrix {
  public:
    // Forward, from zero. The nearer M A is to 1, the more dependent are the directions, the less do sweeps
    // gain. Measured with Chebyshev's basis, s = 4, tolerance 1e-10, contrast 1000 in 16^3 cells: block_ic0
    // takes 48 iterations by 20 sweeps, 100 by 3, 36 by Cholesky (cg 34), a V-cycle 24, 36 and 8 (cg 8).
    static constexpr int sweeps = 20;

    ScaledMatrix(int s, SmallSystemBy how) : by_(how), factor_(s, s), scale_(s), rest_(s) {}

    // Takes the leading n rows of W. False if it is seen not to be positive definite.
    bool take(const Eigen::MatrixXd& W, int n);
    // In place.
    template <class Column>
    void solve(Column&& x) {
        const auto M = factor_.topLeftCorner(n_, n_);
        auto head = x.head(n_);
        head.array() *= scale().array();
        if (by_ == SmallSystemBy::cholesky) {
            const auto L = M.template triangularView<Eigen::Lower>();
            L.solveInPlace(head);
            L.adjoint().solveInPlace(head);
        } else {
            auto b = rest_.head(n_);
            b = head;
            head.setZero();
            for (int sweep = 0; sweep < sweeps; ++sweep)
                for (int i = 0; i < n_; ++i) head(i) += b(i) - M.row(i).dot(head);
        }
        head.array() *= scale().array();
    }

  private:
    Eigen::VectorBlock<Eigen::VectorXd> scale() { return scale_.head(n_); }

    SmallSystemBy by_;
    int n_ = 0;
    Eigen::MatrixXd factor_;  // Cholesky's, or the scaled matrix
    Eigen::VectorXd scale_, rest_;
};

class SmallSystem {
  public:
    SmallSystem(int s, SmallSystemBy how);

    // For n directions after m ones: W is R^T A R and alpha R^T r on entry; C and Pr = P^T r are given if
    // m > 0. Makes B, W and alpha. False where W is not positive definite.
    bool solve(int n, int m);

    Eigen::MatrixXd W, B, C;
    Eigen::VectorXd alpha, Pr;

  private:
    Eigen::MatrixXd W_old_;
    ScaledMatrix old_, now_;
};

}  // namespace keel
