#include "solvers/systems/sparse_system.hpp"

#include "kernels/check.hpp"

namespace keel {

SparseSystem::SparseSystem(SparseMatrix& matrix, DiagonalScaling scaling, std::size_t at_once)
    : ScaledSystem(matrix.operations(), matrix.exchange(), matrix.reduction(), scaling, at_once),
      matrix_(matrix),
      A_(matrix.plain()),
      present_(make_vector()) {
    matrix.assign(present_, [](std::int64_t) { return 1.0; });
    if (scaling == DiagonalScaling::none) return;
    scale_ = matrix.scale(scaling);
    A_ = matrix.scaled(scaling, scale_);
}

int SparseSystem::fields(DiagonalScaling scaling) {
    return scaling == DiagonalScaling::none ? 1 : 2;
}

void SparseSystem::apply(std::span<const Vector> y, std::span<const Vector> x) {
    applications_ += static_cast<long>(x.size());
    matrix_.apply(y, A_, x);
    reduction_.progress();
}

void SparseSystem::fill(Vector y, double value) {
    operations_.fill(y, value);
    if (value != 0) operations_.multiply(y, y, present_);
}

void SparseSystem::split(std::span<const Vector> columns, Vector r, Splitting splitting) {
    const auto count = static_cast<std::int64_t>(columns.size());
    if (masks_.empty())
        for (std::int64_t n = 0; n < count; ++n) {
            masks_.push_back(make_vector());
            matrix_.assign(masks_.back(), [&](std::int64_t row) {
                const std::int64_t column = splitting == Splitting::interleaved
                                                ? row % count
                                                : row * count / matrix_.partition().rows;
                return column == n ? 1.0 : 0.0;
            });
        }
    check_equal(masks_.size(), columns.size(), "a system is always split into as many columns");
    for (std::size_t n = 0; n < columns.size(); ++n) operations_.multiply(columns[n], masks_[n], r);
}

namespace {

class SparseKrylov : public KrylovSolver {
  public:
    SparseKrylov(SparseMatrix& matrix, const Communicator& comm, const BottomOptions& options)
        : stop_{options.tolerance, options.max_iterations, options.max_restarts},
          system_(matrix, scaling_of(options), static_cast<std::size_t>(vectors_at_once(options))),
          solver_(system_, make_method(options, system_, matrix.spectrum(comm, scaling_of(options)))),
          y_(system_.make_vector()),
          b_(system_.make_vector()) {}

    Report solve(Field u, Field f) override {
        system_.scale_right_side(b_, f);
        Report report = solver_.solve(y_, b_, stop_);
        system_.unscale_solution(u, y_);
        return report;
    }

  private:
    Stop stop_;
    SparseSystem system_;
    Solver solver_;
    Field y_, b_;
};

}  // namespace

std::unique_ptr<KrylovSolver> make_krylov(SparseMatrix& matrix, const Communicator& comm,
                                          const BottomOptions& options) {
    return std::make_unique<SparseKrylov>(matrix, comm, options);
}

int krylov_vectors(const BottomOptions& options) {
    const bool splits = options.solver == "enlarged_cg" || options.solver == "sre_cg";
    const int of_solver = 4;  // y, b, the residual and the best iterate
    return static_cast<int>(bottom_method(options.solver).vectors.of(options)) + of_solver +
           SparseSystem::fields(scaling_of(options)) + (splits ? options.block : 0);
}

}  // namespace keel
