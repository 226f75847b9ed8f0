#pragma once

// Decorates operations with entries in a ledger.

#include <utility>

#include "kernels/operations.hpp"
#include "kernels/timing/ledger.hpp"

namespace keel {

// Who calls: the multigrid cycle, or the Krylov method at the bottom, whose work has rows of its own.
enum class Caller { multigrid, bottom };

class TimedOperations : public Operations {
  public:
    // Neither is owned; both must outlive this object.
    TimedOperations(Operations& inner, Ledger& ledger, int level, Caller caller)
        : inner_(inner), ledger_(ledger), level_(level), caller_(caller) {}

    const Layout& layout() const override { return inner_.layout(); }
    Field make_field() override { return inner_.make_field(); }
    Buffer make_buffer(std::size_t values, Wire wire) override { return inner_.make_buffer(values, wire); }
    Items<BlockCopy> make_items(std::span<const BlockCopy> items) override {
        return inner_.make_items(items);
    }
    Items<BlockCopy> make_targets(std::span<const BlockCopy> items) override {
        return inner_.make_targets(items);
    }
    Items<BoundaryItem> make_items(std::span<const BoundaryItem> items) override {
        return inner_.make_items(items);
    }
    void assign(Field u, const Region& cells, const Formula& formula) override {
        inner_.assign(u, cells, formula);
    }
    std::vector<double> read(Field u, const Region& cells) const override { return inner_.read(u, cells); }
    void wait() const override { inner_.wait(); }

    Work fill(Field y, double value) override {
        return book(Op::vector, [&] { return inner_.fill(y, value); });
    }
    Work combine(Field y, std::span<const double> c, std::span<const Field> x) override {
        return book(Op::vector, [&] { return inner_.combine(y, c, x); });
    }
    Work combine_all(std::span<const Combination> combinations) override {
        return book(Op::vector, [&] { return inner_.combine_all(combinations); });
    }
    Work multiply(Field z, Field x, Field y) override {
        return book(Op::vector, [&] { return inner_.multiply(z, x, y); });
    }
    Work divide(Field z, Field x, Field y) override {
        return book(Op::vector, [&] { return inner_.divide(z, x, y); });
    }
    Work square_root(Field y, Field x) override {
        return book(Op::vector, [&] { return inner_.square_root(y, x); });
    }
    Work shift(Field y, double amount) override {
        return book(Op::vector, [&] { return inner_.shift(y, amount); });
    }
    Work take_column(Field y, Field x, const Bricks& bricks, int column) override {
        return book(Op::vector, [&] { return inner_.take_column(y, x, bricks, column); });
    }
    Work dots(std::span<const Product> products, std::span<double> sums) override {
        return book(reducing(), [&] { return inner_.dots(products, sums); });
    }
    Work gram(std::span<const Field> x, std::span<const Field> y, std::span<double> sums) override {
        return book(reducing(), [&] { return inner_.gram(x, y, sums); });
    }
    Work accurate_gram(std::span<const Field> x, std::span<const Field> y, std::span<double> sums) override {
        return book(reducing(), [&] { return inner_.accurate_gram(x, y, sums); });
    }
    Work totals(Field x, std::span<double> sums) override {
        return book(reducing(), [&] { return inner_.totals(x, sums); });
    }
    Work max_norm(Field x, double& norm) override {
        return book(reducing(), [&] { return inner_.max_norm(x, norm); });
    }

    Work apply(Field out, const Stencil& L, Field u) override {
        return book(Op::residual, [&] { return inner_.apply(out, L, u); });
    }
    Work powers(std::span<const BasisVectors> bases, const ScaledStencil& A,
                std::span<const ThreeTerms> recurrences) override {
        return book(Op::residual, [&] { return inner_.powers(bases, A, recurrences); });
    }
    Work residual(Field r, const Stencil& L, Field u, Field f) override {
        return book(Op::residual, [&] { return inner_.residual(r, L, u, f); });
    }
    Work residual_norm(const Stencil& L, Field u, Field f, double& norm) override {
        return book(Op::residual, [&] { return inner_.residual_norm(L, u, f, norm); });
    }
    Work relax(Field u, const Stencil& L, Field f, Colour colour, double relaxation) override {
        return book(Op::smooth, [&] { return inner_.relax(u, L, f, colour, relaxation); });
    }
    Work relax(Field u, const Stencil& L, Field f, const HalfSweeps& sweeps) override {
        return book(Op::smooth, [&] { return inner_.relax(u, L, f, sweeps); });
    }
    Work relax_and_restrict(Field coarse, Field u, const Stencil& L, Field f,
                            const HalfSweeps& sweeps) override {
        return book(Op::smooth_restrict, [&] { return inner_.relax_and_restrict(coarse, u, L, f, sweeps); });
    }
    Work relax_and_measure(double& norm, Field u, const Stencil& L, Field f,
                           const HalfSweeps& sweeps) override {
        return book(Op::smooth_residual, [&] { return inner_.relax_and_measure(norm, u, L, f, sweeps); });
    }
    Work polynomial_step(Field p, double a, double b, const Stencil& L, Field u, Field f) override {
        return book(Op::smooth, [&] { return inner_.polynomial_step(p, a, b, L, u, f); });
    }

    Work add_reaction(Field y, Field x, double scale, const Reaction& phi, Field u) override {
        return book(Op::residual, [&] { return inner_.add_reaction(y, x, scale, phi, u); });
    }
    Work relax_newton(Field u, const Stencil& L, const Reaction& phi, Field f, Colour colour) override {
        return book(Op::smooth, [&] { return inner_.relax_newton(u, L, phi, f, colour); });
    }
    double factor_incompletely(Field inverse, const Stencil& L) override {
        return inner_.factor_incompletely(inverse, L);
    }
    double factor_exactly(Buffer factors, const Stencil& L) override {
        return inner_.factor_exactly(factors, L);
    }
    std::size_t exact_block_values() const override { return inner_.exact_block_values(); }
    Work solve_incompletely(Field z, const Stencil& L, Field inverse, Field r) override {
        return book(preconditioning(), [&] { return inner_.solve_incompletely(z, L, inverse, r); });
    }
    Work solve_exactly(Field z, Buffer factors, Field r) override {
        return book(preconditioning(), [&] { return inner_.solve_exactly(z, factors, r); });
    }

    Work restrict_to(Field coarse, Field fine) override {
        return book(Op::restrict_, [&] { return inner_.restrict_to(coarse, fine); });
    }
    Work restrict_residual(Field coarse, const Stencil& L, Field u, Field f) override {
        return book(Op::restrict_, [&] { return inner_.restrict_residual(coarse, L, u, f); });
    }
    Work interpolate_add(Field fine, Field coarse, Interpolation interpolation,
                         std::optional<Colour> colour) override {
        return book(Op::interpolate,
                    [&] { return inner_.interpolate_add(fine, coarse, interpolation, colour); });
    }
    Work interpolate_quartic_add(Field fine, Field coarse) override {
        return book(Op::interpolate, [&] { return inner_.interpolate_quartic_add(fine, coarse); });
    }

    Work convert(Field to, Field from, double scale) override {
        return book(Op::vector, [&] { return inner_.convert(to, from, scale); });
    }
    Work add_converted(Field u, double scale, Field e) override {
        return book(Op::vector, [&] { return inner_.add_converted(u, scale, e); });
    }

    SparseRows make_rows(const CsrMatrix& A) override { return inner_.make_rows(A); }
    Work apply(std::span<const Field> y, const SparseRows& A, std::span<const Field> x) override {
        return book(Op::residual, [&] { return inner_.apply(y, A, x); });
    }
    Work sweep(Field x, const SparseRows& A, Field b, bool backward) override {
        return book(Op::smooth, [&] { return inner_.sweep(x, A, b, backward); });
    }

    void restrict_faces(Field coarse, Field fine, int direction, double scale) override {
        inner_.restrict_faces(coarse, fine, direction, scale);
    }
    void complete_diagonal(const Stencil& L) override { inner_.complete_diagonal(L); }
    double jacobi_bound(const Stencil& L) override { return inner_.jacobi_bound(L); }

    Work fill_boundary(Field u, Items<BoundaryItem> ghosts, const MirrorFactors& factor) override {
        return book(Op::boundary, [&] { return inner_.fill_boundary(u, ghosts, factor); });
    }
    Work pack(Buffer buffer, Items<BlockCopy> copies, std::span<const Field> u,
              std::optional<Colour> colour) override {
        return book(Op::pack, [&] { return inner_.pack(buffer, copies, u, colour); });
    }
    Work unpack(std::span<const Field> u, Items<BlockCopy> copies, Buffer buffer,
                std::optional<Colour> colour) override {
        return book(Op::unpack, [&] { return inner_.unpack(u, copies, buffer, colour); });
    }
    Work copy_cells(std::span<const Field> u, Items<BlockCopy> copies,
                    std::optional<Colour> colour) override {
        return book(Op::copy, [&] { return inner_.copy_cells(u, copies, colour); });
    }
    Work forward(Buffer to, Items<BlockCopy> copies, Buffer from, std::size_t fields) override {
        return book(Op::copy, [&] { return inner_.forward(to, copies, from, fields); });
    }

  private:
    // What makes few numbers of vectors. The cycle does that only where the problem is singular.
    Op reducing() const { return caller_ == Caller::bottom ? Op::bottom_dots : Op::vector; }

    // Solves with the blocks that the boxes are.
    Op preconditioning() const { return caller_ == Caller::bottom ? Op::bottom_preconditioner : Op::smooth; }

    template <class Action>
    Work book(Op op, Action&& action) {
        if (caller_ == Caller::bottom && op == Op::vector) op = Op::bottom_vector;
        if (caller_ == Caller::bottom && op <= Op::residual) op = Op::bottom_operator;
        return booked(ledger_, op, level_, std::forward<Action>(action));
    }

    Operations& inner_;
    Ledger& ledger_;
    int level_;
    Caller caller_;
};

}  // namespace keel
