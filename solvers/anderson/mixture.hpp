#pragma once

// Expectation maximisation for the means of a mixture of three normal distributions, whose weights (0.3, 0.3,
// 0.4) and variances (1) are known, as a fixed point: Walker and Ni 2011, section 4; Lockhart 2023, (6.20) to
// (6.22). G(u)_i is the mean of the samples, each weighted by how likely it is to come from the i-th
// distribution if the means are u.
//
// The vector has as many copies of the three means as its boxes have room for, so that it is as long as one
// likes: the value of cell (i,j,k) is mean i mod 3. Quantiles are dealt to boxes, and then an evaluation
// takes one all-reduce of 6 words. The samples stay on the host, whatever the backend, and so do the means:
// what is on a device is the vector.

#include <array>
#include <optional>
#include <vector>

#include "comm/reductions/reduction.hpp"
#include "kernels/operations.hpp"
#include "solvers/anderson/anderson.hpp"

namespace keel {

class Mixture : public FixedPoint {
  public:
    static constexpr int components = 3;
    static constexpr long all_samples = 100000;  // from all three distributions, in a run
    using Means = std::array<double, components>;

    // Without a seed samples are evenly spread: of a distribution's c samples the j-th is its quantile
    // (j + 1/2) / c. With one they are random, and every rank has all: then G communicates nothing. Their
    // true means are 0, 1/2 and 1. The boxes' width is a multiple of 3. Neither is owned.
    Mixture(Operations& operations, Reduction& reduction, long samples,
            std::optional<std::uint64_t> seed = std::nullopt);
    // Samples of one distribution; together they are all.
    static long samples_of(int component, long samples);

    void evaluate(Vector g, Vector u) override;
    void set(Vector u, const Means& means);
    static constexpr Means start{0.25, 3.0, 0.75};
    // For a rank that has boxes; zeros elsewhere.
    Means means(Vector u) const;

  private:
    Operations& operations_;
    Reduction& reduction_;
    std::vector<std::vector<double>> samples_;  // a vector for each local box, or one of all
    bool dealt_;
    std::vector<double> parts_;
};

// The x below which a part p of the standard normal distribution lies, to rounding; 0 < p < 1.
double normal_quantile(double p);

}  // namespace keel
