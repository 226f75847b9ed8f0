#include "solvers/grid_system.hpp"

namespace keel {

GridSystem::GridSystem(Operations& operations, Exchange& exchange, Reduction& reduction, const Stencil& L,
                       DiagonalScaling scaling)
    : operations_(operations), exchange_(exchange), reduction_(reduction), L_(L), scaling_(scaling) {
    if (scaling == DiagonalScaling::none) return;
    scaled_ = make_vector();
    scale_ = L.inverse_diagonal;
    if (scaling == DiagonalScaling::symmetric) {
        scale_ = make_vector();
        operations.square_root(scale_, L.inverse_diagonal);
    }
}

void GridSystem::apply(Vector y, Vector x) {
    ++applications_;
    const Vector u = scaling_ == DiagonalScaling::none ? x : scaled_;
    if (scaling_ != DiagonalScaling::none) operations_.multiply(scaled_, scale_, x);
    reduction_.progress();
    exchange_.run(u, [&](Part part) { operations_.apply(y, L_.on(part), u); });
    reduction_.progress();
    if (scaling_ == DiagonalScaling::symmetric) operations_.multiply(y, scale_, y);
}

std::span<double> GridSystem::parts(std::size_t products) {
    parts_.resize(products * static_cast<std::size_t>(operations_.layout().local_count()));
    return parts_;
}

void GridSystem::dots(std::span<const Product> products, std::span<double> results) {
    const auto local = parts(products.size());
    operations_.dots(products, local);
    reduction_.sum(local, results);
}

PendingSum GridSystem::begin_dots(std::span<const Product> products) {
    const auto local = parts(products.size());
    operations_.dots(products, local);
    return reduction_.begin_sum(local, products.size());
}

Counts GridSystem::counts() const {
    const Reductions reductions = reduction_.count();
    return {applications_, exchange_.count(), reductions.calls, reductions.words};
}

void GridSystem::scale_right_side(Vector b, Field f) {
    if (scaling_ == DiagonalScaling::symmetric)
        operations_.multiply(b, scale_, f);
    else
        operations_.copy(b, f);
}

void GridSystem::unscale_solution(Field u, Vector y) {
    if (scaling_ == DiagonalScaling::none)
        operations_.copy(u, y);
    else
        operations_.multiply(u, scale_, y);
}

}  // namespace keel
