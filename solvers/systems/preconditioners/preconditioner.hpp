#pragma once

// Approximations M to the inverse of an operator A, and how a method that knows nothing of them is given one.

#include <string>
#include <vector>

#include "kernels/check.hpp"
#include "solvers/systems/linear_system.hpp"

namespace keel {

class Preconditioner {
  public:
    using Vector = LinearSystem::Vector;

    virtual ~Preconditioner() = default;
    // z = M r; they differ. Unless it varies() M is linear and the same in every application, on which Krylov
    // methods rely, and without all-reduces, as one would end the overlap of pipelined methods. Collective.
    void apply(Vector z, Vector r) {
        ++applications_;
        multiply(z, r);
    }
    long applications() const { return applications_; }
    // Whether M is symmetric, as CG's family wants it.
    virtual bool symmetric() const { return true; }
    // Whether M is another operator in each application, as one is that solves by a tolerance: for flexible
    // methods alone.
    virtual bool varies() const { return false; }
    // The quantity that vanished when M was made; empty: none did. Else there is no M to apply.
    virtual std::string vanished() const { return {}; }

  private:
    virtual void multiply(Vector z, Vector r) = 0;

    long applications_ = 0;
};

// A system that does what another one does, but for what a derived class overrides.
class WrappedSystem : public LinearSystem {
  public:
    explicit WrappedSystem(LinearSystem& A) : A_(A) {}  // not owned

    Vector make_vector() override { return A_.make_vector(); }
    void apply(std::span<const Vector> y, std::span<const Vector> x) override { A_.apply(y, x); }
    void combine(Vector y, std::span<const double> c, std::span<const Vector> x) override {
        A_.combine(y, c, x);
    }
    void combine_all(std::span<const Combination> combinations) override { A_.combine_all(combinations); }
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
    void gram(std::span<const Vector> x, std::span<const Vector> y,
              std::span<DoubleDouble> results) override {
        A_.gram(x, y, results);
    }
    AllReduceRequest begin_dots(std::span<const Product> products) override {
        return A_.begin_dots(products);
    }
    double max_norm(Vector x) override { return A_.max_norm(x); }
    Counts counts() const override { return A_.counts(); }
    using LinearSystem::apply;
    using LinearSystem::combine;
    using LinearSystem::dots;

  protected:
    LinearSystem& wrapped() { return A_; }

  private:
    LinearSystem& A_;
};

// The system A M y = b, whose residuals are those of A x = b with x = M y (Saad, Iterative Methods for Sparse
// Linear Systems, 2nd ed., section 9.3.2). A M is not symmetric even where A and M are: no system for CG and
// its family.
class RightPreconditioned : public WrappedSystem {
  public:
    // At most `at_once` vectors are applied to in one call. Neither A nor M is owned.
    RightPreconditioned(LinearSystem& A, Preconditioner& M, std::size_t at_once) : WrappedSystem(A), M_(M) {
        while (preconditioned_.size() < at_once) preconditioned_.push_back(A.make_vector());
    }

    void apply(std::span<const Vector> y, std::span<const Vector> x) override {
        check_at_most(x.size(), preconditioned_.size(),
                      "no more vectors at once than the system was made for");
        for (std::size_t n = 0; n < x.size(); ++n) M_.apply(preconditioned_[n], x[n]);
        wrapped().apply(y, std::span(preconditioned_).first(x.size()));
    }
    using LinearSystem::apply;

  private:
    Preconditioner& M_;
    std::vector<Vector> preconditioned_;  // M x, of the vectors applied to at once
};

}  // namespace keel
