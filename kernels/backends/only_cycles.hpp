#pragma once

// Operations in single precision, which multigrid cycles use and nothing else does: to ask them for more is a programming
// mistake. Sums, Krylov methods and the set-up of operators stay in double precision.

#include "kernels/check.hpp"
#include "kernels/operations.hpp"

namespace keel {

class OnlyCycles : public Operations {
  public:
    Work combine_all(std::span<const Combination>) override { none(); }
    Work multiply(Field, Field, Field) override { none(); }
    Work divide(Field, Field, Field) override { none(); }
    Work square_root(Field, Field) override { none(); }
    Work shift(Field, double) override { none(); }
    Work take_column(Field, Field, const Bricks&, int) override { none(); }
    Work dots(std::span<const Product>, std::span<double>) override { none(); }
    Work gram(std::span<const Field>, std::span<const Field>, std::span<double>) override { none(); }
    Work accurate_gram(std::span<const Field>, std::span<const Field>, std::span<double>) override { none(); }
    Work totals(Field, std::span<double>) override { none(); }
    Work max_norm(Field, double&) override { none(); }
    Work apply(Field, const Stencil&, Field) override { none(); }
    Work powers(std::span<const BasisVectors>, const ScaledStencil&, std::span<const ThreeTerms>) override {
        none();
    }
    Work residual(Field, const Stencil&, Field, Field) override { none(); }
    Work residual_norm(const Stencil&, Field, Field, double&) override { none(); }
    Work relax_and_measure(double&, Field, const Stencil&, Field, const HalfSweeps&) override { none(); }
    Work add_reaction(Field, Field, double, const Reaction&, Field) override { none(); }
    Work relax_newton(Field, const Stencil&, const Reaction&, Field, Colour) override { none(); }
    double factor_incompletely(Field, const Stencil&) override { none(); }
    double factor_exactly(Buffer, const Stencil&) override { none(); }
    std::size_t exact_block_values() const override { none(); }
    Work solve_incompletely(Field, const Stencil&, Field, Field) override { none(); }
    Work solve_exactly(Field, Buffer, Field) override { none(); }
    SparseRows make_rows(const CsrMatrix&) override { none(); }
    Work apply(std::span<const Field>, const SparseRows&, std::span<const Field>) override { none(); }
    Work sweep(Field, const SparseRows&, Field, bool) override { none(); }
    void restrict_faces(Field, Field, int, double) override { none(); }
    void complete_diagonal(const Stencil&) override { none(); }
    double jacobi_bound(const Stencil&) override { none(); }

  private:
    [[noreturn]] static void none() {
        fail_check("single precision is for multigrid cycles only", __builtin_FILE(), __builtin_LINE());
    }
};

}  // namespace keel
