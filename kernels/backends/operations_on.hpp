#pragma once

// Turns a backend's verbs and the kernels' bodies into Operations. A backend has
//   double* allocate(Shape) / allocate(values)     zeroed memory that lives as long as the backend object
//   template keep(span<const T>) -> const T*       a copy of a list in its memory
//   for_each_value(Field, body(value&))            everything, ghosts included
//   for_each_cell(Cells, body(q,i,j,k))
//   sum_over_cells(Cells, n, body(n,q,i,j,k), sums[n * boxes + q])
//   max_over_cells(Cells, body(q,i,j,k)) -> double  of |body|; +infinity where a value is not finite
//   for_each_item(Items<T>, fields, body(item, field, n, i,j,k))
//   assign(Field, windows, Region, host formula of (q,i,j,k)), read(Field, windows, Region), wait()
//                                                  of every box, whose windows tell where in a block it is
// A backend whose memory the host cannot use also says how messages leave it, by overriding make_buffer, pack and unpack.

#include <algorithm>
#include <type_traits>
#include <utility>

#include "kernels/backends/cells.hpp"
#include "kernels/bodies/accurate_sums.hpp"
#include "kernels/bodies/block_solve.hpp"
#include "kernels/bodies/reaction.hpp"
#include "kernels/bodies/sparse.hpp"
#include "kernels/bodies/transfer.hpp"
#include "kernels/bodies/vector.hpp"
#include "kernels/check.hpp"
#include "kernels/operations.hpp"

namespace keel {

template <class Backend>
class OperationsOn : public Operations {
  public:
    OperationsOn(Layout layout, int ghosts, const Arrangement& arrangement, Backend backend = {})
        : backend_(std::move(backend)),
          layout_(std::move(layout)),
          windows_(arrangement.windows),
          shape_(Shape::of(arrangement.blocks(), arrangement.extent, ghosts, layout_.dimensions())) {
        std::vector<int> parity;
        for (const Index& first : arrangement.first_cells)
            parity.push_back((first[0] + first[1] + first[2]) & 1);
        parity_ = backend_.keep(std::span<const int>(parity));
        first_cells_ = backend_.keep(std::span<const Index>(arrangement.first_cells));
        kept_windows_ = backend_.keep(std::span<const Window>(windows_));
    }

    const Layout& layout() const override { return layout_; }

    Field make_field() override { return {backend_.allocate(shape_), shape_}; }
    Buffer make_buffer(std::size_t values, Wire) override {
        double* const data = backend_.allocate(values);
        return {data, data, values};
    }
    Items<Segment> make_items(std::span<const Segment> items) override {
        std::vector<Segment> placed(items.begin(), items.end());
        for (Segment& item : placed) place(item.box, item.cells);
        return keep(std::span<const Segment>(placed));
    }
    // Without what would be copied to itself, from one box of a block to the ghosts of another.
    Items<CopyItem> make_items(std::span<const CopyItem> items) override {
        std::vector<CopyItem> placed;
        for (CopyItem item : items) {
            place(item.from, item.source);
            place(item.to, item.target);
            if (item.from != item.to || item.source != item.target) placed.push_back(item);
        }
        return keep(std::span<const CopyItem>(placed));
    }
    Items<Parcel> make_items(std::span<const Parcel> items) override { return keep(items); }
    Items<BoundaryItem> make_items(std::span<const BoundaryItem> items) override {
        std::vector<BoundaryItem> placed(items.begin(), items.end());
        for (BoundaryItem& item : placed) place(item.box, item.cells);
        return keep(std::span<const BoundaryItem>(placed));
    }

    void assign(Field u, const Region& cells, const Formula& formula) override {
        backend_.assign(u, windows_, cells, [&](int q, int i, int j, int k) {
            return formula(layout_.first_cell(layout_.local()[static_cast<std::size_t>(q)]) + Index{i, j, k});
        });
    }
    std::vector<double> read(Field u, const Region& cells) const override {
        return backend_.read(u, windows_, cells);
    }
    void wait() const override { backend_.wait(); }

    Work fill(Field y, double value) override {
        backend_.for_each_value(y, Fill{value});
        return Cost{0, 0, 1} * cells();
    }

    Work combine(Field y, std::span<const double> c, std::span<const Field> x) override {
        check_equal(c.size(), x.size(), "combine wants one coefficient per field");
        check(!x.empty(), "combine wants fields");
        if (x.size() <= max_terms) return combine_some(y, c, x);
        // More terms than that take several passes. The first overwrites y, so y's own terms go first, as one.
        std::array<double, max_terms> some_c{};
        std::array<Field, max_terms> some_x{};
        std::size_t terms = 0;
        Work work;
        const auto add = [&](double coefficient, Field field) {
            if (terms == max_terms) {
                work += combine_some(y, some_c, some_x);
                some_c[0] = 1.0;  // of what y holds now
                some_x[0] = y;
                terms = 1;
            }
            some_c[terms] = coefficient;
            some_x[terms++] = field;
        };
        double own = 0.0;
        for (std::size_t n = 0; n < x.size(); ++n) own += x[n] == y ? c[n] : 0.0;
        if (std::find(x.begin(), x.end(), y) != x.end()) add(own, y);
        for (std::size_t n = 0; n < x.size(); ++n)
            if (!(x[n] == y)) add(c[n], x[n]);
        return work += combine_some(y, std::span(some_c).first(terms), std::span(some_x).first(terms));
    }

    Work multiply(Field z, Field x, Field y) override {
        const auto view = views_for(z);
        return on(cells_for(z), Multiply{view(z), view(x), view(y)});
    }
    Work square_root(Field y, Field x) override {
        const auto view = views_for(y);
        return on(cells_for(y), SquareRoot{view(y), view(x)});
    }
    Work shift(Field y, double amount) override { return each(Shift{y.view(), amount}); }
    Work take_column(Field y, Field x, const Bricks& bricks, int column) override {
        check(bricks.cells == layout_.cells(), "the bricks are those of this level");
        return each(TakeColumn{y.view(), x.view(), bricks, column, first_cells_});
    }

    Work dots(std::span<const Product> products, std::span<double> sums) override {
        const std::size_t boxes = windows_.size();
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
            sum_by_box(some.size(), body, sums.data() + n * boxes);
            const auto end = operands.begin() + static_cast<std::ptrdiff_t>(2 * some.size());
            std::sort(operands.begin(), end);
            const auto distinct = std::unique(operands.begin(), end) - operands.begin();
            work += Cost{2.0 * static_cast<double>(some.size()), static_cast<double>(distinct), 0} * cells();
        }
        return work;
    }

    Work gram(std::span<const Field> x, std::span<const Field> y, std::span<double> sums) override {
        check_gram(x, y, sums);
        for_pairs(x, y, [&](std::size_t terms, const InnerProducts& body) {
            sum_by_box(terms, body, sums.data());
            sums = sums.subspan(terms * windows_.size());
        });
        return gram_work(x.size(), y.size());
    }
    Work accurate_gram(std::span<const Field> x, std::span<const Field> y, std::span<double> sums) override {
        const std::size_t boxes = windows_.size();
        const std::size_t pairs = gram_pairs(x.size(), y.size());
        check_equal(sums.size(), 2 * pairs * boxes, "two parts of every pair and local box");
        const Index extent = layout_.extent();
        const int slices = KeptSums::slices_of(extent);
        if (slice_sums_ == nullptr) slice_sums_ = backend_.allocate(KeptSums::room(boxes, slices));
        const KeptSums kept{slice_sums_, slices};
        for_pairs(x, y, [&](std::size_t terms, const InnerProducts& body) {
            const int n = static_cast<int>(terms);
            backend_.for_each_cell(every_cell(boxes, {n, slices, 1}),
                                   SumSlice{body, kept_windows_, extent, kept});
            backend_.for_each_cell(every_cell(boxes, {n, 1, 1}), AddSlices{kept});
            for (std::size_t first = 0; first < 2 * terms; first += max_terms) {
                const std::size_t some = std::min(max_terms, 2 * terms - first);
                backend_.sum_over_cells(every_cell(boxes, {1, 1, 1}), some, PartOfSum{kept, first},
                                        sums.data());
                sums = sums.subspan(some * boxes);
            }
        });
        const auto number = static_cast<double>(pairs);
        return Cost{accurate_product_flops * number, static_cast<double>(x.size() + y.size()), 0} * cells();
    }

    Work totals(Field x, std::span<double> sums) override {
        check_equal(sums.size(), windows_.size(), "totals wants room for every local box");
        sum_by_box(1, Value{x.view()}, sums.data());
        return Value::cost * cells();
    }

    Work max_norm(Field x, double& norm) override { return maximum(Value{x.view()}, norm); }

    Work apply(Field out, const Stencil& L, Field u) override {
        check_at_most(out.layers() + 1, u.shape().ghosts,
                      "the operator reads one ghost layer more than it writes");
        const auto view = views_for(out);
        return in_dimensions([&](auto D) {
            return on(cells_for(out, L.part), Apply<D>{view(out), StencilView<D>(L, out.layers()), view(u)});
        });
    }
    Work residual(Field r, const Stencil& L, Field u, Field f) override {
        return in_dimensions([&](auto D) {
            return each(StoreResidual<D>{r.view(), residual_body<D>(L, u, f)}, L.part);
        });
    }
    Work residual_norm(const Stencil& L, Field u, Field f, double& norm) override {
        return in_dimensions([&](auto D) { return maximum(residual_body<D>(L, u, f), norm); });
    }
    Work relax(Field u, const Stencil& L, Field f, Colour colour, double relaxation) override {
        Cells half = some(L.part);
        half.colour = static_cast<int>(colour);
        return in_dimensions([&](auto D) {
            return with_relaxation<D>(relaxation, [&](const auto& relaxed) {
                return relax_half(half, relaxed(Relax<D>{u.view(), StencilView<D>(L), f.view()}));
            });
        });
    }
    Work relax(Field u, const Stencil& L, Field f, std::span<const Colour> colours,
               double relaxation) override {
        return in_dimensions([&](auto D) {
            return with_relaxation<D>(relaxation, [&](const auto& relaxed) {
                Work work;
                for (const auto& sweep : half_sweeps<D>(u, L, f, colours, relaxed))
                    work += relax_half(sweep.cells, sweep.body);
                return work;
            });
        });
    }
    Work polynomial_step(Field p, double a, double b, const Stencil& L, Field u, Field f) override {
        return in_dimensions([&](auto D) {
            return each(PolynomialStep<D>{p.view(), a, b, residual_body<D>(L, u, f)}, L.part);
        });
    }

    Work add_reaction(Field y, Field x, double scale, const Reaction& phi, Field u) override {
        return each(AddReaction{y.view(), x.view(), scale, phi, u.view()});
    }
    Work relax_newton(Field u, const Stencil& L, const Reaction& phi, Field f, Colour colour) override {
        Cells half = some(L.part);
        half.colour = static_cast<int>(colour);
        return in_dimensions([&](auto D) {
            return relax_half(half, RelaxNewton<D>{u.view(), StencilView<D>(L), f.view(), phi});
        });
    }
    double factor_incompletely(Field inverse, const Stencil& L) override {
        return backend_.max_over_cells(each_box(), FactorIncompletely{incomplete(inverse, L)});
    }
    double factor_exactly(Buffer factors, const Stencil& L) override {
        check_at_least(factors.values, exact_block_values(), "the factors of all boxes fit into the buffer");
        return backend_.max_over_cells(each_box(), FactorExactly{exact(factors), StencilView<3>(L)});
    }
    std::size_t exact_block_values() const override {
        return windows_.size() * ExactBlocks::values(layout_.extent());
    }
    Work solve_incompletely(Field z, const Stencil& L, Field inverse, Field r) override {
        for_each_box(SolveIncompletely{incomplete(inverse, L), z.view(), r.view()});
        return IncompleteBlocks::solve_cost(layout_.dimensions()) * cells();
    }
    Work solve_exactly(Field z, Buffer factors, Field r) override {
        for_each_box(SolveExactly{exact(factors), z.view(), r.view()});
        return SolveExactly::cost(layout_.extent()) * cells();
    }

    Work restrict_to(Field coarse, Field fine) override {
        return in_dimensions([&](auto D) {
            return on(coarser(coarse), Restrict<D>{coarse.view(), fine.view()});
        });
    }
    Work restrict_residual(Field coarse, const Stencil& L, Field u, Field f) override {
        return in_dimensions([&](auto D) {
            return on(coarser(coarse, L.part), RestrictResidual<D>{coarse.view(), residual_body<D>(L, u, f)});
        });
    }
    Work interpolate_constant_add(Field fine, Field coarse) override {
        return in_dimensions([&](auto D) {
            return each(InterpolateConstant<D>{fine.view(), coarse.view()});
        });
    }
    Work interpolate_linear_add(Field fine, Field coarse) override {
        return in_dimensions([&](auto D) { return each(InterpolateLinear<D>{fine.view(), coarse.view()}); });
    }

    SparseRows make_rows(const CsrMatrix& A) override {
        check_equal(blocks_of(A.rows()), static_cast<std::size_t>(layout_.local_count()),
                    "a sparse matrix has the rows of its vectors");
        check(shape_.extent == cube(block_width).size && shape_.ghosts == 0,
              "vectors of a sparse matrix are blocks");
        std::vector<std::int64_t> first = A.first;
        first.resize(blocks_of(A.rows()) * block_rows + 1, A.first.back());
        return {backend_.keep(std::span<const std::int64_t>(first)),
                backend_.keep(std::span<const std::int32_t>(A.columns)),
                backend_.keep(std::span<const double>(A.values)), A.rows(), A.values.size()};
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
            backend_.for_each_cell(every_cell(1, {1, 1, 1}), SweepRows{x.view(), b.view(), A, backward});
        return work_of(A, 1);
    }

    void restrict_faces(Field coarse, Field fine, int direction, double scale) override {
        Cells faces = coarser(coarse);
        faces.extent[static_cast<std::size_t>(direction)] += 1;
        in_dimensions([&](auto D) {
            return on(faces, RestrictFaces<D>{coarse.view(), fine.view(), direction, scale});
        });
    }
    void complete_diagonal(const Stencil& L) override {
        in_dimensions([&](auto D) { return each(CompleteDiagonal<D>{StencilView<D>(L)}); });
    }
    double jacobi_bound(const Stencil& L) override {
        return in_dimensions(
            [&](auto D) { return backend_.max_over_cells(all(), JacobiBound<D>{StencilView<D>(L)}); });
    }

    Work fill_boundary(Field u, Items<BoundaryItem> ghosts, const MirrorFactors& factor) override {
        backend_.for_each_item(ghosts, 1, Reflect{u.view(), shape_.extent, factor});
        return Cost{1, 1, 1} * ghosts.cells;
    }
    Work pack(Buffer buffer, Items<Segment> segments, std::span<const Field> u) override {
        check_at_least(buffer.values, segments.values * u.size(), "a message fits into its buffer");
        in_passes(u, [&](BufferOrder order, const auto& views, std::size_t count) {
            backend_.for_each_item(segments, count, Pack{buffer.data, order, views});
        });
        return Cost{0, 1, 1} * (segments.cells * u.size());
    }
    Work unpack(std::span<const Field> u, Items<Segment> segments, Buffer buffer) override {
        check_at_least(buffer.values, segments.values * u.size(), "a message fits into its buffer");
        in_passes(u, [&](BufferOrder order, const auto& views, std::size_t count) {
            backend_.for_each_item(segments, count, Unpack{buffer.data, order, views});
        });
        return Cost{0, 1, 1} * (segments.cells * u.size());
    }
    Work copy_cells(std::span<const Field> u, Items<CopyItem> copies) override {
        in_passes(u, [&](BufferOrder, const auto& views, std::size_t count) {
            backend_.for_each_item(copies, count, CopyCells{views});
        });
        return Cost{0, 1, 1} * (copies.cells * u.size());
    }
    Work forward(Buffer to, Items<Parcel> parcels, Buffer from, std::size_t fields) override {
        backend_.for_each_item(parcels, fields, Forward{from.data, to.data, fields});
        return Cost{0, 1, 1} * (parcels.cells * fields);
    }

  protected:
    // Cells of this level ...
    Cells some(Part part) const {
        return {shape_.blocks, shape_.extent, Cells::every, parity_, part, layout_.layers(shape_.ghosts)};
    }
    Cells all() const { return some(Part::all); }
    // ... with the ghost layers that a result asks for: loops start at 0, so the cells are counted from the layers' corner,
    // and bodies get views that do the same.
    Cells cells_for(Field result, Part part = Part::all) const {
        Cells cells = some(part);
        const Index layers = layout_.layers(result.layers());
        cells.extent = cells.extent + 2 * layers;
        cells.margin = cells.margin + layers;
        return cells;
    }
    static auto views_for(Field result) {
        return [layers = result.layers()](Field u) { return u.view().from_ghost(layers); };
    }
    // ... and of the coarser level that `coarse` lives on; those whose children are in the part.
    Cells coarser(Field coarse, Part part = Part::all) const {
        Cells cells = some(part);
        check_equal(coarse.shape().blocks, shape_.blocks, "both levels are stored in the same way");
        cells.extent = coarse.shape().extent;
        cells.margin = layout_.layers((shape_.ghosts + 1) / 2);
        return cells;
    }
    std::size_t cells() const { return layout_.local_cells(); }
    // action(D) with the number of dimensions as a constant.
    template <class Action>
    auto in_dimensions(const Action& action) const {
        if (layout_.dimensions() == 2) return action(std::integral_constant<int, 2>{});
        return action(std::integral_constant<int, 3>{});
    }
    // Hands over what makes the body of a half sweep of Relax. Where nothing is over-relaxed the old value is not read.
    template <int D, class Action>
    static Work with_relaxation(double relaxation, const Action& action) {
        if (relaxation == 1.0) return action([](const Relax<D>& body) { return body; });
        return action([relaxation](const Relax<D>& body) { return OverRelax<D>{body, relaxation}; });
    }
    template <class Body>
    struct HalfSweep {
        Cells cells;
        Body body;
    };
    // Half sweeps one after the other, each on a ghost layer less than the one before, the last on none.
    template <int D, class Relaxed>
    auto half_sweeps(Field u, const Stencil& L, Field f, std::span<const Colour> colours,
                     const Relaxed& relaxed) const {
        check_at_most(static_cast<int>(colours.size()), shape_.ghosts,
                      "each half sweep takes a ghost layer of those before it");
        std::vector<HalfSweep<decltype(relaxed(std::declval<Relax<D>>()))>> sweeps;
        int layers = static_cast<int>(colours.size());
        for (const Colour colour : colours) {
            const auto view = views_for(u.with_ghosts(--layers));
            Cells cells = cells_for(u.with_ghosts(layers));
            cells.colour =
                (static_cast<int>(colour) + D * layers) & 1;  // the corner is off by that in each direction
            sweeps.push_back({cells, relaxed(Relax<D>{view(u), StencilView<D>(L, layers), view(f)})});
        }
        return sweeps;
    }
    void check_gram(std::span<const Field> x, std::span<const Field> y, std::span<double> sums) const {
        check_equal(sums.size(), gram_pairs(x.size(), y.size()) * windows_.size(),
                    "gram wants room for every pair and local box");
    }
    Work gram_work(std::size_t n, std::size_t m) const {
        const auto pairs = static_cast<double>(gram_pairs(n, m));
        return Cost{2.0 * pairs, static_cast<double>(n + m), 0} * cells();
    }
    Backend& backend() { return backend_; }
    std::span<const Window> windows() const { return windows_; }
    // One cell for each local box, to run what takes a box after the other.
    Cells each_box() const { return every_cell(windows_.size(), {1, 1, 1}); }
    IncompleteBlocks incomplete(Field inverse, const Stencil& L) const {
        return {StencilView<3>(L), inverse.view(), kept_windows_, layout_.extent()};
    }
    ExactBlocks exact(Buffer factors) const { return {factors.data, kept_windows_, layout_.extent()}; }

  private:
    template <int D>
    static Residual<D> residual_body(const Stencil& L, Field u, Field f) {
        return {StencilView<D>(L), u.view(), f.view()};
    }

    template <class Body>
    void for_each_box(const Body& body) {
        backend_.for_each_cell(each_box(), body);
    }
    template <class Body>
    Work relax_half(const Cells& cells, const Body& body) {
        backend_.for_each_cell(cells, body);
        return Body::cost * (cells.count() / 2);
    }
    template <class Body>
    Work on(const Cells& cells, const Body& body) {
        backend_.for_each_cell(cells, body);
        return Body::cost * cells.count();
    }
    template <class Body>
    Work each(const Body& body, Part part = Part::all) {
        return on(some(part), body);
    }

    // From cells of a box to cells of its block. Boxes behind those of the layout, where the values of a matrix's ghost columns
    // are (sparse.hpp), lie alone.
    void place(int& box, Region& cells) const {
        if (static_cast<std::size_t>(box) >= windows_.size()) return;
        const Window& window = windows_[static_cast<std::size_t>(box)];
        box = window.block;
        cells.lo = cells.lo + window.at;
    }

    // Hands on the pairs of a Gram matrix, in their order, some at a time.
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
        const Cells boxes = every_cell(windows_.size(), layout_.extent());
        backend_.sum_over_cells(boxes, count, InWindow<Body>{body, kept_windows_}, sums);
    }

    template <class Body>
    Work maximum(const Body& body, double& norm) {
        norm = backend_.max_over_cells(all(), body);
        return Body::cost * cells();
    }

    // A body with as many terms as there are: the loop over them is unrolled inside the cell.
    template <std::size_t N = max_terms>
    Work combine_some(Field y, std::span<const double> c, std::span<const Field> x) {
        if constexpr (N > 1) {
            if (x.size() < N) return combine_some<N - 1>(y, c, x);
        }
        const auto view = views_for(y);
        Combine<N> body{view(y), {}, {}};
        for (std::size_t n = 0; n < N; ++n) {
            body.c[n] = c[n];
            body.x[n] = view(x[n]);
        }
        return on(cells_for(y), body);
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
        backend_.for_each_cell(all(), body);
    }

    template <class Pass>
    static void in_passes(std::span<const Field> u, const Pass& pass) {
        for (std::size_t first = 0; first < u.size(); first += max_fields) {
            const std::size_t count = std::min(max_fields, u.size() - first);
            std::array<View, max_fields> views{};
            for (std::size_t n = 0; n < count; ++n) views[n] = u[first + n].view();
            pass(BufferOrder{u.size(), first}, views, count);
        }
    }

    template <class T>
    Items<T> keep(std::span<const T> items) {
        std::size_t cells = 0;
        std::size_t values = 0;
        for (const T& item : items) {
            cells += product(item.size());
            if constexpr (requires { item.end(); }) values = std::max(values, item.end());
        }
        return {backend_.keep(items), items.size(), cells, values};
    }

    Backend backend_;
    Layout layout_;
    std::vector<Window> windows_;  // of the local boxes
    Shape shape_;
    const int* parity_ = nullptr;         // of the sum of the global indices of each block's first cell
    const Index* first_cells_ = nullptr;  // of each block
    const Window* kept_windows_ = nullptr;
    double* slice_sums_ = nullptr;  // of accurate_gram, from its first call on
};

}  // namespace keel
