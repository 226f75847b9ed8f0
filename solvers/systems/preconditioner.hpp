#pragma once

// Approximations M to the inverse of an operator A, and how a method that knows nothing of them is given one.

#include <vector>

#include "kernels/check.hpp"
#include "solvers/systems/linear_system.hpp"

namespace keel {

class Preconditioner {
  public:
    using Vector = LinearSystem::Vector;

    virtual ~Preconditioner() = default;
    // z = M r; they differ. M is linear and the same in every application: Krylov methods rely on it.
    // Collective.
    virtual void apply(Vector z, Vector r) = 0;
};

// The system A M y = b, whose residuals are those of A x = b with x = M y (Saad, Iterative Methods for Sparse
// Linear Systems, 2nd ed., section 9.3.2). A M is not symmetric even where A and M are: no system for CG and
// its family.
class RightPreconditioned : public LinearSystem {
  public:
    // At most `at_once` vectors are applied to in one call. Neither A nor M is owned.
    RightPreconditioned(LinearSystem& A, Preconditioner& M, std::size_t at_once) : A_(A), M_(M) {
        while (preconditioned_.size() < at_once) preconditioned_.push_back(A.make_vector());
    }

    Vector make_vector() override { return A_.make_vector(); }
    void apply(std::span<const Vector> y, std::span<const Vector> x) override {
        check_at_most(x.size(), preconditioned_.size(),
                      "no more vectors at once than the system was made for");
        for (std::size_t n = 0; n < x.size(); ++n) M_.apply(preconditioned_[n], x[n]);
        A_.apply(y, std::span(preconditioned_).first(x.size()));
    }
    void combine(Vector y, std::span<const double> c, std::span<const Vector> x) override {
        A_.combine(y, c, x);
    }
    void fill(Vector y, double value) override { A_.fill(y, value); }
    void split(std::span<const Vector> columns, Vector r, Splitting splitting) override {
        A_.split(columns, r, splitting);
    }
    void dots(std::span<const Product> products, std::span<double> results) override {
        A_.dots(products, results);
    }
    void gram(std::span<const Vector> x, std::span<const Vector> y, std::span<double> results) override {
        A_.gram(x, y, results);
    }
    PendingSum begin_dots(std::span<const Product> products) override { return A_.begin_dots(products); }
    double max_norm(Vector x) override { return A_.max_norm(x); }
    Counts counts() const override { return A_.counts(); }
    using LinearSystem::apply;
    using LinearSystem::combine;
    using LinearSystem::dots;

    void recover(Vector x, Vector y) { M_.apply(x, y); }  // x = M y

  private:
    LinearSystem& A_;
    Preconditioner& M_;
    std::vector<Vector> preconditioned_;  // M x, of the vectors applied to at once
};

}  // namespace keel
