#pragma once

// Grids and sparse matrices as linear systems: vectors that are fields, sums over ranks, and
// scaling by the diagonal of the problem's operator.

#include <vector>

#include "comm/carry/exchange.hpp"
#include "comm/reductions/reduction.hpp"
#include "kernels/bodies/diagonal_scaling.hpp"
#include "solvers/systems/linear_system.hpp"

namespace keel {

class ScaledSystem : public LinearSystem {
  public:
    void combine(Vector y, std::span<const double> c, std::span<const Vector> x) override;
    void combine_all(std::span<const Combination> combinations) override;
    void dots(std::span<const Product> products, std::span<double> results) override;
    void gram(std::span<const Vector> x, std::span<const Vector> y, std::span<double> results) override;
    void gram(std::span<const Vector> x, std::span<const Vector> y, std::span<DoubleDouble> results) override;
    AllReduceRequest begin_dots(std::span<const Product> products) override;
    double max_norm(Vector x) override;
    Counts counts() const override;
    using LinearSystem::combine;
    using LinearSystem::dots;

    // Between the problem L u = f and the scaled one A y = b.
    void scale_right_side(Vector b, Field f);
    void unscale_solution(Field u, Vector y);
    // L has other coefficients now, in the same fields.
    virtual void update() {}

  protected:
    // Nothing is owned. At most `at_once` vectors are exchanged together.
    ScaledSystem(Operations& operations, Exchange& exchange, Reduction& reduction, DiagonalScaling scaling,
                 std::size_t at_once);

    std::span<double> parts(std::size_t sums);  // room for so many of each local box

    Operations& operations_;
    Exchange& exchange_;
    Reduction& reduction_;
    DiagonalScaling scaling_;
    Field scale_;  // D^-1 or D^-1/2
    long applications_ = 0;

  private:
    std::span<double> local_sums(std::span<const Product> products);

    std::vector<double> parts_;
};

}  // namespace keel
