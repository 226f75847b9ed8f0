#pragma once

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "kernels/bodies/vector.hpp"
#include "miniapp/prediction/costs.hpp"
#include "solvers/systems/linear_system.hpp"

namespace keel {

// Vectors that are not there: notes what a method does with them, for a prediction. Every inner product is 1, which no method
// breaks down of.
class ProxyVectors : public LinearSystem {
  public:
    using LinearSystem::apply;
    using LinearSystem::combine;
    using LinearSystem::dots;
    Vector make_vector() override { return {}; }
    void combine(Vector, std::span<const double>, std::span<const Vector> x) override { note(x.size() + 1); }
    void fill(Vector, double) override { note(1); }
    void dots(std::span<const Product> products, std::span<double> results) override {
        sums_.push_back(products.size());
        for (std::size_t n = 0; n < products.size(); n += max_terms)  // one vector is in all of them
            note(1 + std::min(max_terms, products.size() - n));
        std::ranges::fill(results, 1.0);
    }
    double max_norm(Vector) override { return 1.0; }
    Counts counts() const override { return {}; }
    void apply(std::span<const Vector>, std::span<const Vector>) override { not_recorded(); }
    void split(std::span<const Vector>, Vector, Splitting) override { not_recorded(); }
    void gram(std::span<const Vector>, std::span<const Vector>, std::span<double>) override {
        not_recorded();
    }
    void gram(std::span<const Vector>, std::span<const Vector>, std::span<DoubleDouble>) override {
        not_recorded();
    }
    AllReduceRequest begin_dots(std::span<const Product>) override {
        throw std::logic_error("is not recorded");
    }

    // Seconds of what was noted since the last call, on a rank with so many rows.
    double take(Costs& costs, double rows) {
        double seconds = costs.work(calls_, {0.0, 8 * doubles_ * rows});
        for (const std::size_t words : sums_) seconds += costs.all_reduce(0, words);
        sums_.clear();
        calls_ = doubles_ = 0;
        return seconds;
    }

  private:
    void note(std::size_t vectors) {
        calls_ += 1;
        doubles_ += static_cast<double>(vectors);
    }
    static void not_recorded() { throw std::logic_error("is not recorded"); }

    std::vector<std::size_t> sums_;  // words of each all-reduce
    double calls_ = 0;
    double doubles_ = 0;  // moved for a row
};

}  // namespace keel
