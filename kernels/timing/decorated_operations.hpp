#pragma once

// The one list of all operations, forwarded to others. A derived class adds one thing: time, a fault
// of a test, or a refusal (OnlyCycles).

#include "kernels/operations.hpp"
#include "kernels/timing/ledger.hpp"

namespace keel {

// Derived, which names this class a friend, has
//   inner()                       the operations that calls are forwarded to
//   around(Op, action) -> Work    called for every operation on the cells of fields, with its row in a report
//                                 (bottom_dots and bottom_preconditioner for Krylov methods alone);
//                                 action(inner) calls the operation
//   set_up(action)                optional: called for each set-up of fields and operators, as `around` is
template <class Derived>
class DecoratedOperations : public Operations {
  public:
    using Operations::Operations;

    Field make_field() override { return derived().inner().make_field(); }
    Buffer make_buffer(std::size_t values, Wire wire) override {
        return derived().inner().make_buffer(values, wire);
    }
    Items<BlockCopy> make_items(std::span<const BlockCopy> items) override {
        return derived().inner().make_items(items);
    }
    Items<BoundaryItem> make_items(std::span<const BoundaryItem> items) override {
        return derived().inner().make_items(items);
    }
    SparseRows make_rows(const CsrMatrix& A) override { return derived().inner().make_rows(A); }
    std::vector<double> read(Field u, const Region& cells) const override {
        return derived().inner().read(u, cells);
    }
    void wait() const override { derived().inner().wait(); }

    void assign(Field u, const Region& cells, const Formula& formula) override {
        derived().set_up([&](Operations& inner) { inner.assign(u, cells, formula); });
    }
    double factor_blocks(Field inverse, const Stencil& L) override {
        return derived().set_up([&](Operations& inner) { return inner.factor_blocks(inverse, L); });
    }
    void restrict_faces(Field coarse, Field fine, int direction, double scale) override {
        derived().set_up([&](Operations& inner) { inner.restrict_faces(coarse, fine, direction, scale); });
    }
    double complete_diagonal(const Stencil& L) override {
        return derived().set_up([&](Operations& inner) { return inner.complete_diagonal(L); });
    }
    void round_faces(Stencil& rounded, const Stencil& L, int layers) override {
        derived().set_up([&](Operations& inner) { inner.round_faces(rounded, L, layers); });
    }

    Work fill(Field y, double value) override { return call(Op::vector, &Operations::fill, y, value); }
    Work combine_all(std::span<const Combination> combinations) override {
        return call(Op::vector, &Operations::combine_all, combinations);
    }
    Work map(Field z, const CellFunction& function, Field x, Field y) override {
        const bool nonlinear = std::holds_alternative<AddReaction>(function);
        return call(nonlinear ? Op::residual : Op::vector, &Operations::map, z, function, x, y);
    }
    Work dots(std::span<const Product> products, std::span<double> sums) override {
        return call(Op::bottom_dots, &Operations::dots, products, sums);
    }
    Work gram(std::span<const Field> x, std::span<const Field> y, GramAccuracy accuracy,
              std::span<double> sums) override {
        return call(Op::bottom_dots, &Operations::gram, x, y, accuracy, sums);
    }
    Work totals(Field x, std::span<double> sums) override {
        return call(Op::bottom_dots, &Operations::totals, x, sums);
    }
    Work max_norm(Field x, double& norm) override {
        return call(Op::bottom_dots, &Operations::max_norm, x, norm);
    }

    Work apply(Field out, const Stencil& L, Field u) override {
        return derived().around(Op::residual, [&](Operations& inner) { return inner.apply(out, L, u); });
    }
    Work powers(std::span<const BasisVectors> bases, const ScaledStencil& A,
                std::span<const ThreeTerms> recurrences, GramEnd* end) override {
        return call(Op::residual, &Operations::powers, bases, A, recurrences, end);
    }
    Work residual(Field r, const Stencil& L, Field u, Field f) override {
        return call(Op::residual, &Operations::residual, r, L, u, f);
    }
    Work residual_norm(const Stencil& L, Field u, Field f, double& norm) override {
        return call(Op::residual, &Operations::residual_norm, L, u, f, norm);
    }
    Work smooth(Field u, const Stencil& L, Field f, const HalfSweeps& sweeps, const PassEnd& end) override {
        const Op op = end.restricted ? Op::smooth_restrict : end.norm ? Op::smooth_residual : Op::smooth;
        return call(op, &Operations::smooth, u, L, f, sweeps, end);
    }
    Work polynomial_step(Field p, double a, double b, const Stencil& L, Field u, Field f) override {
        return call(Op::smooth, &Operations::polynomial_step, p, a, b, L, u, f);
    }
    Work relax_newton(Field u, const Stencil& L, const Reaction& phi, Field f, Colour colour) override {
        return call(Op::smooth, &Operations::relax_newton, u, L, phi, f, colour);
    }
    Work solve_blocks(Field z, Field inverse, const Stencil& L, Field r) override {
        return call(Op::bottom_preconditioner, &Operations::solve_blocks, z, inverse, L, r);
    }

    Work restrict_to(Field coarse, Field fine) override {
        return call(Op::restrict_, &Operations::restrict_to, coarse, fine);
    }
    Work restrict_residual(Field coarse, const Stencil& L, Field u, Field f) override {
        return call(Op::restrict_, &Operations::restrict_residual, coarse, L, u, f);
    }
    Work interpolate_add(Field fine, Field coarse, Interpolation interpolation,
                         std::optional<Colour> colour) override {
        return call(Op::interpolate, &Operations::interpolate_add, fine, coarse, interpolation, colour);
    }
    Work convert(Field to, Field from, double scale, Update update) override {
        return call(Op::vector, &Operations::convert, to, from, scale, update);
    }

    Work apply(std::span<const Field> y, const SparseRows& A, std::span<const Field> x) override {
        return derived().around(Op::residual, [&](Operations& inner) { return inner.apply(y, A, x); });
    }
    Work sweep(Field x, const SparseRows& A, Field b, bool backward) override {
        return call(Op::smooth, &Operations::sweep, x, A, b, backward);
    }

    bool keep_ghosts(Items<BlockCopy> ghosts) override { return derived().inner().keep_ghosts(ghosts); }
    bool prepare_single_launch(const LaunchNeeds& needs, Items<BlockCopy> ghosts) override {
        return derived().inner().prepare_single_launch(needs, ghosts);
    }
    Work begin_single_launch(const MakeBlockKernel& make) override {
        return call(Op::bottom_solve, &Operations::begin_single_launch, make);
    }
    Work finish_single_launch(std::vector<double>& values) override {
        return derived().inner().finish_single_launch(values);
    }

    Work fill_boundary(Field u, Items<BoundaryItem> ghosts, const MirrorFactors& factor) override {
        return call(Op::boundary, &Operations::fill_boundary, u, ghosts, factor);
    }
    Work copy_blocks(const CopyEnd& to, Items<BlockCopy> copies, const CopyEnd& from,
                     std::optional<Colour> colour) override {
        const Op op = to.index() == from.index()           ? Op::copy
                      : std::holds_alternative<Packed>(to) ? Op::pack
                                                           : Op::unpack;
        return call(op, &Operations::copy_blocks, to, copies, from, colour);
    }

  private:
    template <class Action>
    auto set_up(const Action& action) {
        return action(derived().inner());
    }

    template <class... Parameters, class... Arguments>
    Work call(Op op, Work (Operations::*operation)(Parameters...), Arguments&... arguments) {
        return derived().around(op, [&](Operations& inner) { return (inner.*operation)(arguments...); });
    }
    Derived& derived() { return static_cast<Derived&>(*this); }
    const Derived& derived() const { return static_cast<const Derived&>(*this); }
};

}  // namespace keel
