#pragma once

// A distributed sparse matrix as a linear system; the scaling is part of the matrix that is multiplied by.

#include "solvers/systems/linear_system.hpp"
#include "solvers/systems/sparse/sparse_matrix.hpp"

namespace keel {

class SparseSystem : public LinearSystem {
  public:
    // The matrix is not owned. Collective.
    SparseSystem(SparseMatrix& matrix, DiagonalScaling scaling, std::size_t at_once = 1);
    // Vectors that it keeps, before the first split().
    static int fields(DiagonalScaling scaling);

    Vector make_vector() override { return matrix_.make_vector(); }
    void fill(Vector y, double value) override;
    Squares squares(Vector r) override;

  private:
    void multiply(std::span<const Vector> y, std::span<const Vector> x) override;
    // boxes and slabs: a column has consecutive rows.
    void number_columns(Vector numbers, Splitting splitting, int columns) override;

    SparseMatrix& matrix_;
    SparseRows A_;
    Field present_;            // 1 at rows, 0 behind them
    Field unscale_, product_;  // where the scaling is symmetric: a power of two times D, and that times r
};

}  // namespace keel
