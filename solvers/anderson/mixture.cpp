#include "solvers/anderson/mixture.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

#include "kernels/check.hpp"
#include "kernels/hash.hpp"

namespace keel {
namespace {

constexpr Mixture::Means weights{0.3, 0.3, 0.4};
constexpr Mixture::Means true_means{0.0, 0.5, 1.0};

}  // namespace

// Newton's method with the second derivative (Halley), from Abramowitz and Stegun's formula 26.2.23, which is
// off by 4.5e-4.
double normal_quantile(double p) {
    const double tail = std::min(p, 1 - p);
    const double t = std::sqrt(-2 * std::log(tail));
    double x = -(t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                         (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))));
    for (int step = 0; step < 3; ++step) {  // on the lower tail, where nothing cancels
        const double error = 0.5 * std::erfc(-x / std::numbers::sqrt2) - tail;
        const double ratio = error * std::sqrt(2 * std::numbers::pi) * std::exp(0.5 * x * x);
        x -= ratio / (1 + 0.5 * x * ratio);
    }
    return p < 0.5 ? x : -x;
}

long Mixture::samples_of(int component, long samples) {
    const auto part = [&](double weight) { return std::lround(weight * static_cast<double>(samples)); };
    if (component < components - 1) return part(weights[static_cast<std::size_t>(component)]);
    return samples - part(weights[0]) - part(weights[1]);
}

Mixture::Mixture(Operations& operations, Reduction& reduction, long samples,
                 std::optional<std::uint64_t> seed)
    : operations_(operations), reduction_(reduction), dealt_(!seed) {
    const Layout& layout = operations.layout();
    check(layout.width() % components == 0, "boxes hold whole copies of the means");
    const long boxes = dealt_ ? layout.box_count() : 1;
    const int all = 0;
    for (const int box : dealt_ ? layout.local() : std::span(&all, 1)) {
        auto& mine = samples_.emplace_back();
        long before = 0;
        for (int g = 0; g < components; ++g) {
            const long count = samples_of(g, samples);
            for (long j = (box - before % boxes + boxes) % boxes; j < count; j += boxes) {
                const double even = (static_cast<double>(j) + 0.5) / static_cast<double>(count);
                const double random =
                    (1 + uniform(seed.value_or(0), static_cast<std::uint64_t>(before + j))) / 2;
                mine.push_back(true_means[static_cast<std::size_t>(g)] +
                               normal_quantile(seed ? std::max(random, 0x1.0p-54) : even));
            }
            before += count;
        }
    }
    parts_.resize(2 * components * samples_.size());
}

Mixture::Means Mixture::means(Vector u) const {
    Means means{};
    const std::vector<double> values = operations_.read(u, {{0, 0, 0}, {components, 1, 1}});
    if (!values.empty()) std::copy_n(values.begin(), components, means.begin());
    return means;
}

void Mixture::set(Vector u, const Means& means) {
    operations_.assign(u, operations_.layout().box_cells(), [&](const Index& cell) {
        return means[static_cast<std::size_t>(cell[0] % components)];
    });
}

void Mixture::evaluate(Vector g, Vector u) {
    const Means mu = means(u);
    const std::size_t boxes = samples_.size();
    for (std::size_t box = 0; box < boxes; ++box) {
        std::array<double, 2 * components> sums{};
        for (const double x : samples_[box]) {
            Means likely;
            double all = 0;
            for (std::size_t i = 0; i < components; ++i) {
                likely[i] = weights[i] * std::exp(-0.5 * (x - mu[i]) * (x - mu[i]));
                all += likely[i];
            }
            for (std::size_t i = 0; i < components; ++i) {
                sums[i] += likely[i] / all * x;
                sums[components + i] += likely[i] / all;
            }
        }
        for (std::size_t n = 0; n < sums.size(); ++n) parts_[n * boxes + box] = sums[n];
    }
    std::array<double, 2 * components> totals{};
    if (dealt_)
        reduction_.sum(parts_, totals);
    else
        std::ranges::copy(parts_, totals.begin());
    Means next;
    for (std::size_t i = 0; i < components; ++i) next[i] = totals[i] / totals[components + i];
    set(g, next);
}

}  // namespace keel
