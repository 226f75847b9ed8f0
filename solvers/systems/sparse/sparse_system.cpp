#include "solvers/systems/sparse/sparse_system.hpp"

namespace keel {

SparseSystem::SparseSystem(SparseMatrix& matrix, DiagonalScaling scaling, std::size_t at_once)
    : LinearSystem(matrix.operations(), matrix.exchange(), matrix.reduction(), scaling, at_once),
      matrix_(matrix),
      A_(matrix.plain()),
      present_(make_vector()) {
    matrix.assign(present_, [](std::int64_t) { return 1.0; });
    if (scaling == DiagonalScaling::none) return;
    scale_ = matrix.scale(scaling);
    A_ = matrix.scaled(scaling, scale_);
    if (scaling != DiagonalScaling::symmetric) return;
    const double of_scale = unit(scale_);
    const std::vector<double> scales = matrix.read(scale_);
    unscale_ = make_vector();
    product_ = make_vector();
    matrix.assign(unscale_, [&](std::int64_t row) {
        const double scale = of_scale * scales[static_cast<std::size_t>(row - matrix.first_row())];
        return 1 / (scale * scale);
    });
}

int SparseSystem::fields(DiagonalScaling scaling) {
    return scaling == DiagonalScaling::none ? 1 : scaling == DiagonalScaling::right ? 2 : 4;
}

void SparseSystem::multiply(std::span<const Vector> y, std::span<const Vector> x) {
    applications_ += static_cast<long>(x.size());
    matrix_.apply(y, A_, x);
    reduction_.progress();
}

void SparseSystem::fill(Vector y, double value) {
    operations_.fill(y, value);
    if (value != 0) operations_.multiply(y, y, present_);
}

void SparseSystem::number_columns(Vector numbers, Splitting splitting, int columns) {
    matrix_.assign(numbers, [&](std::int64_t row) {
        return static_cast<double>(
            splitting == Splitting::interleaved ? row % columns : row * columns / matrix_.partition().rows);
    });
}

// (D^-1/2 r, D D^-1/2 r) = (r,r)
Squares SparseSystem::squares(Vector r) {
    if (scaling_ != DiagonalScaling::symmetric) return LinearSystem::squares(r);
    operations_.multiply(product_, unscale_, r);
    const auto [own, unscaled] = LinearSystem::dots({{r, r}, {r, product_}});
    return {own, unscaled};
}

}  // namespace keel
