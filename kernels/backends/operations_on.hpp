#pragma once

// Operations in double precision by a backend's verbs (cycle_operations_on.hpp) and the kernels' bodies.
// Missing are those that a backend may compute by rows or in one pass (operations_by_cells.hpp,
// rows/operations_by_rows.hpp): a version that is overridden would still be compiled. A backend whose memory
// the host cannot use overrides make_buffer and copy_blocks.

#include <algorithm>
#include <type_traits>
#include <variant>

#include "kernels/backends/cells.hpp"
#include "kernels/backends/cycle_operations_on.hpp"
#include "kernels/bodies/accurate_sums.hpp"
#include "kernels/bodies/block_solve.hpp"
#include "kernels/bodies/powers.hpp"
#include "kernels/bodies/reaction.hpp"
#include "kernels/bodies/sparse.hpp"
#include "kernels/bodies/transfer.hpp"
#include "kernels/bodies/vector.hpp"
#include "kernels/check.hpp"
#include "kernels/operations.hpp"

namespace keel {

template <class Backend>
class OperationsOn : public CycleOperationsOn<Backend, double, Operations> {
    using Cycle = CycleOperationsOn<Backend, double, Operations>;

  public:
    using Cycle::Cycle;

    Work map(Field z, const CellFunction& function, Field x, Field y) override {
        const auto view = this->views_for(z);
        return std::visit(
            [&](const auto& values) {
                using Function = std::decay_t<decltype(values)>;
                return this->on(this->cells_for(z), MapCells<Function>{view(z), view(x), view(y), values});
            },
            function);
    }

    Work dots(std::span<const Product> products, std::span<double> sums) override {
        const std::size_t boxes = this->windows().size();
        check_equal(sums.size(), products.size() * boxes, "dots wants room for every product and local box");
        Work work;
        for (std::size_t n = 0; n < products.size(); n += max_terms) {
            const auto some = products.subspan(n, std::min(max_terms, products.size() - n));
            InnerProducts body{};
            std::array<const double*, 2 * max_terms> operands{};
            for (std::size_t m = 0; m < some.size(); ++m) {
                body.x[m] = some[m].x.view();
                body.y[m] = some[m].y.view();
                operands[2 * m] = some[m].x.data();
                operands[2 * m + 1] = some[m].y.data();
            }
            this->sum_by_box(some.size(), body, sums.data() + n * boxes);
            const auto end = operands.begin() + static_cast<std::ptrdiff_t>(2 * some.size());
            std::sort(operands.begin(), end);
            const auto distinct = std::unique(operands.begin(), end) - operands.begin();
            work += Cost{2.0 * static_cast<double>(some.size()), static_cast<double>(distinct), 0} *
                    this->cells();
        }
        return work;
    }

    Work totals(Field x, std::span<double> sums) override {
        check_equal(sums.size(), this->windows().size(), "totals wants room for every local box");
        this->sum_by_box(1, Value{x.view()}, sums.data());
        return Value::cost * this->cells();
    }

    Work max_norm(Field x, double& norm) override { return this->maximum(Value{x.view()}, norm); }

    Work apply(Field out, const Stencil& L, Field u) override {
        check_at_most(out.layers() + 1, u.shape().ghosts,
                      "the operator reads one ghost layer more than it writes");
        const auto view = this->views_for(out);
        return this->in_dimensions([&](auto D) {
            return this->on(this->cells_for(out, L.part),
                            Apply<D>{view(out), StencilView<D>(L, out.layers()), view(u)});
        });
    }
    Work residual(Field r, const Stencil& L, Field u, Field f) override {
        return this->in_dimensions([&](auto D) {
            return this->each(StoreResidual<D>{r.view(), this->template residual_body<D>(L, u, f)}, L.part);
        });
    }
    Work residual_norm(const Stencil& L, Field u, Field f, double& norm) override {
        return this->in_dimensions([&](auto D) {
            return this->template with_residual<D>(
                L, u, f, [&](const auto& residual) { return this->maximum(residual, norm); });
        });
    }
    Work relax_newton(Field u, const Stencil& L, const Reaction& phi, Field f, Colour colour) override {
        Cells half = this->some(L.part);
        half.colour = static_cast<int>(colour);
        return this->in_dimensions([&](auto D) {
            return this->relax_half(half, RelaxNewton<D>{u.view(), StencilView<D>(L), f.view(), phi});
        });
    }
    double factor_blocks(Field inverse, const Stencil& L) override {
        return this->backend().max_over_cells(this->each_box(), FactorIncompletely{incomplete(inverse, L)});
    }
    Work solve_blocks(Field z, Field inverse, const Stencil& L, Field r) override {
        // A box is as much work as its cells.
        this->backend().for_each_cell(this->each_box(),
                                      SolveIncompletely{incomplete(inverse, L), z.view(), r.view()},
                                      this->layout().box_cells().cells());
        return IncompleteBlocks::solve_cost(this->layout().dimensions()) * this->cells();
    }

    SparseRows make_rows(const CsrMatrix& A) override {
        check_equal(blocks_of(A.rows()), static_cast<std::size_t>(this->layout().local_count()),
                    "a sparse matrix has the rows of its vectors");
        check(this->shape().extent == block_cells.size && this->shape().ghosts == 0,
              "vectors of a sparse matrix are blocks");
        std::vector<std::int64_t> first = A.first;
        first.resize(blocks_of(A.rows()) * block_rows + 1, A.first.back());
        SparseRows rows{this->backend().keep(std::span<const std::int64_t>(first)),
                        this->backend().keep(std::span<const std::int32_t>(A.columns)),
                        this->backend().keep(std::span<const double>(A.values)), A.rows(), A.values.size()};
        if (A.shell.empty()) return rows;
        std::vector<std::uint8_t> shell = A.shell;
        shell.resize(first.size() - 1);
        rows.shell = this->backend().keep(std::span<const std::uint8_t>(shell));
        for (std::size_t r = 0; r < A.rows(); ++r) {
            if (A.shell[r] == 0) continue;
            ++rows.shell_rows;
            rows.shell_nonzeros += static_cast<std::size_t>(A.first[r + 1] - A.first[r]);
        }
        return rows;
    }
    Work apply(std::span<const Field> y, const SparseRows& A, std::span<const Field> x) override {
        Work work;
        for (std::size_t n = 0; n < x.size(); n += max_fields) {
            const std::size_t count = std::min(max_fields, x.size() - n);
            apply_some(y.subspan(n, count), A, x.subspan(n, count));
            work += work_of(A, count);
        }
        return work;
    }
    Work sweep(Field x, const SparseRows& A, Field b, bool backward) override {
        if (A.rows > 0)
            this->backend().for_each_cell(every_cell(1, {1, 1, 1}),
                                          SweepRows{x.view(), b.view(), A, backward});
        return work_of(A, 1);
    }

    void restrict_faces(Field coarse, Field fine, int direction, double scale) override {
        Cells faces = this->coarser(coarse);
        faces.extent[static_cast<std::size_t>(direction)] += 1;
        this->in_dimensions([&](auto D) {
            return this->on(faces, RestrictFaces<D>{coarse.view(), fine.view(), direction, scale});
        });
    }
    double complete_diagonal(const Stencil& L) override {
        return this->in_dimensions([&](auto D) {
            this->each(CompleteDiagonal<D>{StencilView<D>(L)});
            return this->backend().max_over_cells(this->all(), JacobiBound<D>{StencilView<D>(L)});
        });
    }

  protected:
    Work accurate_gram(std::span<const Field> x, std::span<const Field> y, std::span<double> sums) {
        const std::size_t boxes = this->windows().size();
        const std::size_t pairs = gram_pairs(x.size(), y.size());
        check_equal(sums.size(), 2 * pairs * boxes, "two parts of every pair and local box");
        const Index extent = this->layout().extent();
        const int slices = KeptSums::slices_of(extent);
        if (slice_sums_ == nullptr) slice_sums_ = this->backend().allocate(KeptSums::room(boxes, slices));
        const KeptSums kept{slice_sums_, slices};
        for_pairs(x, y, [&](std::size_t terms, const InnerProducts& body) {
            const int n = static_cast<int>(terms);
            this->backend().for_each_cell(every_cell(boxes, {n, slices, 1}),
                                          SumSlice{body, this->kept_windows(), extent, kept});
            this->backend().for_each_cell(every_cell(boxes, {n, 1, 1}), AddSlices{kept});
            for (std::size_t first = 0; first < 2 * terms; first += max_terms) {
                const std::size_t some = std::min(max_terms, 2 * terms - first);
                this->backend().sum_over_cells(every_cell(boxes, {1, 1, 1}), some, PartOfSum{kept, first},
                                               sums.data());
                sums = sums.subspan(some * boxes);
            }
        });
        const auto number = static_cast<double>(pairs);
        return Cost{accurate_product_flops * number, static_cast<double>(x.size() + y.size()), 0} *
               this->cells();
    }

    // pass(terms, body) for the pairs of a Gram matrix in their order, some at a time.
    template <class Pass>
    static void for_pairs(std::span<const Field> x, std::span<const Field> y, const Pass& pass) {
        InnerProducts body{};
        std::size_t terms = 0;
        for (std::size_t i = 0; i < x.size(); ++i)
            for (std::size_t j = i; j < x.size() + y.size(); ++j) {
                body.x[terms] = x[i].view();
                body.y[terms] = (j < x.size() ? x[j] : y[j - x.size()]).view();
                if (++terms < max_terms) continue;
                pass(terms, body);
                terms = 0;
            }
        if (terms > 0) pass(terms, body);
    }

    template <class Body>
    void sum_by_box(std::size_t count, const Body& body, double* sums) {
        const Cells boxes = every_cell(this->windows().size(), this->layout().extent());
        this->backend().sum_over_cells(boxes, count, InWindow<Body>{body, this->kept_windows()}, sums);
    }

    // Several combinations in one pass, which reads each field once.
    Work work_of_combinations(std::span<const Combination> combinations) const {
        // Whether no term or combination before the n-th term of the m-th combination has its field.
        const auto is_new = [&](std::size_t m, std::size_t n) {
            const Field field = combinations[m].x[n];
            const auto has = [&](std::span<const Field> fields) {
                return std::find(fields.begin(), fields.end(), field) != fields.end();
            };
            for (std::size_t before = 0; before < m; ++before)
                if (has(combinations[before].x) || combinations[before].y == field) return false;
            return !has(combinations[m].x.first(n));
        };
        Cost cost{0, 0, static_cast<double>(combinations.size())};
        for (std::size_t m = 0; m < combinations.size(); ++m) {
            cost.flops += combine_flops(combinations[m].x.size());
            for (std::size_t n = 0; n < combinations[m].x.size(); ++n) cost.reads += is_new(m, n) ? 1 : 0;
        }
        return cost * this->cells();
    }
    void check_gram(std::span<const Field> x, std::span<const Field> y, std::span<double> sums) const {
        check_equal(sums.size(), gram_pairs(x.size(), y.size()) * this->windows().size(),
                    "gram wants room for every pair and local box");
    }
    Work gram_work(std::size_t n, std::size_t m) const {
        const auto pairs = static_cast<double>(gram_pairs(n, m));
        return Cost{2.0 * pairs, static_cast<double>(n + m), 0} * this->cells();
    }
    void check_powers(std::span<const BasisVectors> bases, const ScaledStencil& A, std::size_t count) const {
        check_at_most(static_cast<int>(count), this->shape().ghosts,
                      "each power takes a ghost layer of those before it");
        check(A.scaling == DiagonalScaling::none || !(A.s == Field()), "a scaled operator has its scaling");
        check_at_most(bases.size(), most_bases, "no more bases at once than there is room for");
        for (const BasisVectors& basis : bases)
            check_at_most(basis.v.size(), count + 1, "no more vectors than are made, and the first");
    }
    // action(D, scaling) with the number of dimensions and the scaling as constants.
    template <class Action>
    Work of_kind(const ScaledStencil& A, const Action& action) const {
        using Scaling = DiagonalScaling;
        return this->in_dimensions([&](auto D) {
            if (A.scaling == Scaling::none)
                return action(D, std::integral_constant<Scaling, Scaling::none>{});
            if (A.scaling == Scaling::right)
                return action(D, std::integral_constant<Scaling, Scaling::right>{});
            return action(D, std::integral_constant<Scaling, Scaling::symmetric>{});
        });
    }
    // The vector that the n-th recurrence makes, with the ghost layers that the recurrences after it read.
    static Field made_by(std::size_t recurrences, std::size_t n, Field v) {
        return v.with_ghosts(static_cast<int>(recurrences - 1 - n));
    }
    template <int D, DiagonalScaling scaling>
    static NextVectors<D, scaling> next_vector(Field next, const BasisVectors& basis, const ScaledStencil& A,
                                               const ThreeTerms& c, std::size_t n) {
        const auto view = Cycle::views_for(next);
        const Field before = c[2] == 0.0 ? basis.v[n] : n > 0 ? basis.v[n - 1] : basis.before;
        return {StencilView<D>(A.L, next.layers()),
                scaling == DiagonalScaling::none ? View{} : view(A.s),
                c,
                {view(next)},
                {view(basis.v[n])},
                {view(before)}};
    }
    // make(basis, n, next) for each vector that recurrences make. The work: of vectors made one by one.
    template <class Make>
    Work power_by_power(std::span<const BasisVectors> bases, const ScaledStencil& A,
                        std::span<const ThreeTerms> recurrences, const Make& make) const {
        Work work;
        for (std::size_t n = 0; n < recurrences.size(); ++n)
            for (const BasisVectors& basis : bases) {
                if (n + 1 >= basis.v.size()) continue;
                const Field next = made_by(recurrences.size(), n, basis.v[n + 1]);
                make(basis, n, next);
                work += next_vector_cost(A, recurrences[n]) * this->cells_for(next).count();
            }
        return work;
    }
    // The cost of a vector that is made alone.
    Cost next_vector_cost(const ScaledStencil& A, const ThreeTerms& c) const {
        return {next_vector_flops(this->layout().dimensions(), A.scaling, c),
                coefficients_of(A) + (c[2] != 0.0 ? 2.0 : 1.0), 1};
    }
    // Values per cell of A: faces, the diagonal's inverse and the scaling.
    double coefficients_of(const ScaledStencil& A) const {
        return static_cast<double>(this->layout().dimensions()) +
               (A.scaling == DiagonalScaling::none ? 1 : 2);
    }

  private:
    IncompleteBlocks incomplete(Field inverse, const Stencil& L) const {
        return {StencilView<3>(L), inverse.view(), this->kept_windows(), this->layout().extent()};
    }

    template <class Body>
    Work maximum(const Body& body, double& norm) {
        norm = this->backend().max_over_cells(this->all(), body);
        return Body::cost * this->cells();
    }

    template <std::size_t N = max_fields>
    void apply_some(std::span<const Field> y, const SparseRows& A, std::span<const Field> x) {
        if constexpr (N > 1) {
            if (x.size() < N) return apply_some<N - 1>(y, A, x);
        }
        ApplyRows<N> body{{}, {}, A};
        for (std::size_t n = 0; n < N; ++n) {
            body.y[n] = y[n].view();
            body.x[n] = x[n].view();
        }
        this->backend().for_each_cell(this->all(), body);
    }

    double* slice_sums_ = nullptr;  // memory of accurate_gram, from the first call on
};

}  // namespace keel
