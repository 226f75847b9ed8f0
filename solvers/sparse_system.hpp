#pragma once

// A distributed sparse matrix as a linear system, optionally scaled by its diagonal as a grid level is
// (grid_system.hpp); the scaling is part of the matrix that is multiplied by.

#include <memory>
#include <vector>

#include "solvers/bottom.hpp"
#include "solvers/sparse_matrix.hpp"

namespace keel {

class SparseSystem : public LinearSystem {
  public:
    // The matrix is not owned. Collective.
    SparseSystem(SparseMatrix& matrix, DiagonalScaling scaling, std::size_t at_once = 1);
    // Vectors that it keeps, before the first split().
    static int fields(DiagonalScaling scaling);

    Vector make_vector() override { return matrix_.make_vector(); }
    void apply(std::span<const Vector> y, std::span<const Vector> x) override;
    void combine(Vector y, std::span<const double> c, std::span<const Vector> x) override;
    void fill(Vector y, double value) override;
    // boxes and slabs: column n has consecutive rows. The first call makes a vector for each column.
    void split(std::span<const Vector> columns, Vector r, Splitting splitting) override;
    void dots(std::span<const Product> products, std::span<double> results) override;
    void gram(std::span<const Vector> x, std::span<const Vector> y, std::span<double> results) override;
    PendingSum begin_dots(std::span<const Product> products) override;
    Counts counts() const override;
    using LinearSystem::apply;
    using LinearSystem::combine;
    using LinearSystem::dots;

    // Between the matrix' problem A u = f and the scaled one that the methods see.
    void scale_right_side(Vector b, Vector f);
    void unscale_solution(Vector u, Vector y);

  private:
    std::span<double> parts(std::size_t sums);

    SparseMatrix& matrix_;
    Operations& operations_;
    Reduction& reduction_;
    DiagonalScaling scaling_;
    SparseRows A_;
    Field present_;             // 1 at rows, 0 behind them
    Field scale_;               // D^-1 or D^-1/2
    std::vector<Field> masks_;  // of split()
    std::vector<double> parts_;
    long applications_ = 0;
};

// A method of the table of bottom solvers as solver of A u = f. The matrix must outlive the result and be scalable where
// the options scale it. Collective.
std::unique_ptr<KrylovSolver> make_krylov(SparseMatrix& matrix, const Communicator& comm,
                                          const BottomOptions& options);
// Vectors that such a solver adds to the matrix.
int krylov_vectors(const BottomOptions& options);

}  // namespace keel
