#pragma once

// A system that does what another one does, but for what a derived class overrides.

#include "solvers/systems/linear_system.hpp"

namespace keel {

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

}  // namespace keel
