#include "solvers/systems/preconditioners/scaled_system.hpp"

namespace keel {

ScaledSystem::ScaledSystem(Operations& operations, Exchange& exchange, Reduction& reduction,
                           DiagonalScaling scaling, std::size_t at_once)
    : operations_(operations), exchange_(exchange), reduction_(reduction), scaling_(scaling) {
    exchange_.reserve(at_once);
}

void ScaledSystem::combine(Vector y, std::span<const double> c, std::span<const Vector> x) {
    operations_.combine(y, c, x);
    reduction_.progress();
}

void ScaledSystem::combine_all(std::span<const Combination> combinations) {
    operations_.combine_all(combinations);
    reduction_.progress();
}

std::span<double> ScaledSystem::parts(std::size_t sums) {
    parts_.resize(sums * static_cast<std::size_t>(operations_.layout().local_count()));
    return parts_;
}

std::span<double> ScaledSystem::local_sums(std::span<const Product> products) {
    const auto local = parts(products.size());
    operations_.dots(products, local);
    return local;
}

void ScaledSystem::dots(std::span<const Product> products, std::span<double> results) {
    reduction_.sum(local_sums(products), results);
}

AllReduceRequest ScaledSystem::begin_dots(std::span<const Product> products) {
    return reduction_.begin_sum(local_sums(products), products.size());
}

double ScaledSystem::max_norm(Vector x) {
    double norm = 0;
    operations_.max_norm(x, norm);
    return reduction_.max(norm);
}

void ScaledSystem::gram(std::span<const Vector> x, std::span<const Vector> y, std::span<double> results) {
    const auto local = parts(gram_pairs(x.size(), y.size()));
    operations_.gram(x, y, GramAccuracy::plain, local);
    reduction_.sum(local, results);
}

void ScaledSystem::gram(std::span<const Vector> x, std::span<const Vector> y,
                        std::span<DoubleDouble> results) {
    const auto local = parts(2 * gram_pairs(x.size(), y.size()));
    operations_.gram(x, y, GramAccuracy::doubled, local);
    reduction_.sum(local, results);
}

Counts ScaledSystem::counts() const {
    const Reductions reductions = reduction_.count();
    return {applications_, exchange_.count(), reductions.calls, reductions.words};
}

void ScaledSystem::scale_right_side(Vector b, Field f) {
    if (scaling_ == DiagonalScaling::symmetric)
        operations_.multiply(b, scale_, f);
    else
        operations_.copy(b, f);
}

void ScaledSystem::unscale_solution(Field u, Vector y) {
    if (scaling_ == DiagonalScaling::none)
        operations_.copy(u, y);
    else
        operations_.multiply(u, scale_, y);
}

}  // namespace keel
