#pragma once

// Operations that a multigrid cycle asks of its levels, fields and messages in one precision, by a backend's
// verbs and the kernels' bodies; the rest of Operations is for doubles alone (operations_on.hpp). Verbs:
//   Real* allocate(Shape) / allocate(values)       zeroed memory that lives as long as the backend object
//   template allocate<T>(Shape) -> T*              the same for values of another type
//   template keep(span<const T>) -> const T*       a copy of a list in its memory
//   for_each_value(Field, body(value&))            everything, ghosts included
//   for_each_cell(Cells, body(q,i,j,k), weight = 1)  a cell is as much work as `weight` others
//   sum_over_cells(Cells, n, body(n,q,i,j,k), sums[n * boxes + q])
//   max_over_cells(Cells, body(q,i,j,k)) -> double  of |body|; +infinity where a value is not finite
//   for_each_item(Items<T>, fields, body(item, field, n, i,j,k))
//   assign(Field, windows, Region, host formula of (q,i,j,k)), read(Field, windows, Region), wait()
//                                                  a box's window is its place in a block

#include <algorithm>
#include <type_traits>
#include <utility>

#include "kernels/backends/cells.hpp"
#include "kernels/backends/placed.hpp"
#include "kernels/bodies/transfer.hpp"
#include "kernels/bodies/vector.hpp"
#include "kernels/check.hpp"
#include "kernels/operations.hpp"

namespace keel {

// Interface: Operations, or a class derived from it that has the rest. FaceValue: of the operators.
template <class Backend, class Real, class Interface, class FaceValue = Real>
class CycleOperationsOn : public Interface {
  public:
    using Face = FaceValue;

    CycleOperationsOn(Layout layout, int ghosts, const Arrangement& arrangement, Backend backend = {})
        : Interface(std::move(layout)),
          backend_(std::move(backend)),
          windows_(arrangement.windows),
          shape_(Shape::of(arrangement.blocks(), arrangement.extent, ghosts, this->layout().dimensions())) {
        std::vector<int> parity;
        for (const Index& first : arrangement.first_cells)
            parity.push_back((first[0] + first[1] + first[2]) & 1);
        parity_ = backend_.keep(std::span<const int>(parity));
        kept_windows_ = backend_.keep(std::span<const Window>(windows_));
    }

    Field make_field() override {
        Real* const data = backend_.allocate(shape_);
        return {data, shape_};
    }
    Buffer make_buffer(std::size_t values, Wire) override {
        Real* const data = backend_.allocate(values);
        return {data, data, values, precision_of<Real>};
    }
    Items<BlockCopy> make_items(std::span<const BlockCopy> copies) override {
        return keep(placed(windows_, shape_.blocks, copies));
    }
    Items<BoundaryItem> make_items(std::span<const BoundaryItem> items) override {
        return keep(placed(windows_, shape_.blocks, items));
    }

    void assign(Field u, const Region& cells, const Formula& formula) override {
        std::vector<Index> first;
        for (const int box : this->layout().local()) first.push_back(this->layout().first_cell(box));
        backend_.assign(u, windows_, cells, [&](int q, int i, int j, int k) {
            return formula(first[static_cast<std::size_t>(q)] + Index{i, j, k});
        });
    }
    std::vector<double> read(Field u, const Region& cells) const override {
        return backend_.read(u, windows_, cells);
    }
    void wait() const override { backend_.wait(); }

    Work fill(Field y, double value) override {
        backend_.for_each_value(y, Fill<Real>{static_cast<Real>(value)});
        return work({0, 0, 1}, cells());
    }

    Work combine_all(std::span<const Combination> combinations) override {
        Work work;
        for (const Combination& combination : combinations)
            in_passes_of_terms(combination, [&](std::span<const double> c, std::span<const Field> x) {
                work += combine_some(combination.y, c, x);
            });
        return work;
    }

    Work polynomial_step(Field p, double a, double b, const Stencil& L, Field u, Field f) override {
        return in_dimensions([&](auto D) {
            return each(PolynomialStep<D, Real, Face>{view_of(p), static_cast<Real>(a), static_cast<Real>(b),
                                                      residual_body<D>(L, u, f)},
                        L.part);
        });
    }

    Work restrict_to(Field coarse, Field fine) override {
        return in_dimensions([&](auto D) {
            return on(coarser(coarse), Restrict<D, Real>{view_of(coarse), view_of(fine)});
        });
    }

    Work convert(Field to, Field from, double scale, Update update) override {
        const ViewOf<Real> target = to.view<Real>().from_ghost(to.layers());
        const ViewOf<Other> source = from.view<Other>().from_ghost(to.layers());
        if (update == Update::replace) return converting(to, Convert<Real, Other>{target, scale, source});
        return converting(to, AddConverted<Real, Other>{target, scale, source});
    }

    void round_faces(Stencil& rounded, const Stencil& L, int layers) override {
        if constexpr (sizeof(Face) < sizeof(Real))
            in_dimensions([&](auto D) { round_faces_in<D>(rounded, L, layers); });
        else
            Interface::round_faces(rounded, L, layers);
    }
    Work fill_boundary(Field u, Items<BoundaryItem> ghosts, const MirrorFactors& factor) override {
        backend_.for_each_item(ghosts, 1, Reflect<Real>{view_of(u), shape_.extent, factor});
        return work({1, 1, 1}, ghosts.cells);
    }
    Work copy_blocks(const CopyEnd& to, Items<BlockCopy> copies, const CopyEnd& from,
                     std::optional<Colour> colour) override {
        const std::size_t fields = fields_of(to);
        check_equal(fields_of(from), fields, "both ends of copies have as many fields");
        if (const Packed* const message = message_of(to, from))
            check_at_least(message->buffer.values, copies.values * fields, "a message fits into its buffer");
        else
            check(!colour || std::holds_alternative<std::span<const Field>>(to),
                  "only boxes' cells are coloured");
        std::visit(
            [&](const auto& target, const auto& source) {
                for (std::size_t first = 0; first < fields; first += max_fields) {
                    const std::size_t count = std::min(max_fields, fields - first);
                    with_values(source, first, count, [&](const auto& read) {
                        with_values(target, first, count, [&](const auto& written) {
                            copy_some(copies, count, colour, CopyBlock{read, written});
                        });
                    });
                }
            },
            to, from);
        const auto values = static_cast<double>(copies.cells * fields / (colour ? 2 : 1));
        return {0, values * static_cast<double>(bytes_of_value(to) + bytes_of_value(from))};
    }

  protected:
    // Cells of this level ...
    Cells some(Part part) const {
        return {shape_.blocks, shape_.extent, Cells::every,
                part,          parity_,       this->layout().layers(shape_.ghosts)};
    }
    Cells all() const { return some(Part::all); }
    // ... with the ghost layers that a result asks for: loops start at 0, so the cells are counted from the
    // layers' corner, and bodies get views that do the same.
    Cells cells_for(Field result, Part part = Part::all) const {
        Cells cells = some(part);
        const Index layers = this->layout().layers(result.layers());
        cells.extent = cells.extent + 2 * layers;
        cells.margin = cells.margin + layers;
        return cells;
    }
    static auto views_for(Field result) {
        return [layers = result.layers()](Field u) { return view_of(u).from_ghost(layers); };
    }
    // ... and of the coarser level that `coarse` lives on; those whose children are in the part.
    Cells coarser(Field coarse, Part part = Part::all) const {
        Cells cells = some(part);
        check_equal(coarse.shape().blocks, shape_.blocks, "both levels are stored in the same way");
        cells.extent = coarse.shape().extent;
        cells.margin = this->layout().layers((shape_.ghosts + 1) / 2);
        return cells;
    }
    std::size_t cells() const { return this->layout().local_cells(); }
    // action(D) with the number of dimensions as a constant.
    template <class Action>
    auto in_dimensions(const Action& action) const {
        if (this->layout().dimensions() == 2) return action(std::integral_constant<int, 2>{});
        return action(std::integral_constant<int, 3>{});
    }
    // A cycle adds two fields; Krylov methods many.
    static constexpr std::size_t most_terms = sizeof(Real) == sizeof(double) ? max_terms : 2;
    // Passes on the terms of a combination, some at a time. More than most_terms take several passes. The
    // first one overwrites y, and takes the terms of y itself, as one.
    template <class Pass>
    static void in_passes_of_terms(const Combination& combination, const Pass& pass) {
        const Field y = combination.y;
        const std::span<const double> c = combination.c;
        const std::span<const Field> x = combination.x;
        check_equal(c.size(), x.size(), "combine wants one coefficient per field");
        check(!x.empty(), "combine wants fields");
        if (x.size() <= most_terms) return pass(c, x);
        std::array<double, most_terms> some_c{};
        std::array<Field, most_terms> some_x{};
        std::size_t terms = 0;
        const auto add = [&](double coefficient, Field field) {
            if (terms == most_terms) {
                pass(std::span<const double>(some_c), std::span<const Field>(some_x));
                some_c[0] = 1.0;  // y as the pass before left it
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
        pass(std::span<const double>(some_c).first(terms), std::span<const Field>(some_x).first(terms));
    }
    // The message that copies pack or unpack; null if both of their ends are fields, or buffers.
    static const Packed* message_of(const CopyEnd& to, const CopyEnd& from) {
        if (to.index() == from.index()) return nullptr;
        const auto* const packed = std::get_if<Packed>(&to);
        return packed ? packed : std::get_if<Packed>(&from);
    }
    Backend& backend() { return backend_; }
    std::span<const Window> windows() const { return windows_; }
    // One cell for each local box, for bodies of a whole box.
    Cells each_box() const { return every_cell(windows_.size(), {1, 1, 1}); }
    const Shape& shape() const { return shape_; }
    const Window* kept_windows() const { return kept_windows_; }
    static ViewOf<Real> view_of(Field u) { return u.view<Real>(); }
    static Work work(const Cost& cost, std::size_t cells) { return work_of(cost, cells, sizeof(Real)); }
    template <int D>
    static Residual<D, Real, Face> residual_body(const Stencil& L, Field u, Field f) {
        return {StencilView<D, Real, Face>(L), view_of(u), view_of(f)};
    }
    // Passes the residual as a value, of all cells or of L.colour.
    template <int D, class Action>
    Work with_residual(const Stencil& L, Field u, Field f, const Action& action) const {
        const Residual<D, Real, Face> residual = residual_body<D>(L, u, f);
        if (!L.colour) return action(residual);
        return action(ResidualOfColour<D, Real, Face>{residual, static_cast<int>(*L.colour), parity_});
    }
    // action(the body of a fine cell)
    template <class Action>
    auto with_interpolation(Field fine, Field coarse, Interpolation interpolation,
                            const Action& action) const {
        return in_dimensions([&](auto D) {
            if (interpolation == Interpolation::constant)
                return action(InterpolateConstant<D, Real>{view_of(fine), view_of(coarse)});
            return action(InterpolateLinear<D, Real>{view_of(fine), view_of(coarse)});
        });
    }
    // All parents of cells of one colour are read.
    template <class Body>
    static Work work_of_interpolation(const Cells& cells) {
        constexpr Cost cost = Body::cost;
        const auto step = static_cast<double>(cells.step());
        return work({cost.flops / step, 1 / step + cost.reads - 1, cost.writes / step}, cells.count());
    }
    // All cells of this level, or those of one colour.
    Cells of_colour(std::optional<Colour> colour) const {
        Cells cells = all();
        if (colour) cells.colour = static_cast<int>(*colour);
        return cells;
    }
    Cells coloured(const Stencil& L) const { return of_colour(L.colour); }
    template <class Body>
    Work relax_half(const Cells& cells, const Body& body) {
        backend_.for_each_cell(cells, body);
        return work(Body::cost, cells.count() / 2);
    }
    template <class Body>
    Work on(const Cells& cells, const Body& body) {
        backend_.for_each_cell(cells, body);
        return work(Body::cost, cells.count());
    }
    template <class Body>
    Work each(const Body& body, Part part = Part::all) {
        return on(some(part), body);
    }

  private:
    using Other = std::conditional_t<std::is_same_v<Real, float>, double, float>;

    template <int D>
    void round_faces_in(Stencil& rounded, const Stencil& L, int layers) {
        for (std::size_t d = 0; d < D; ++d) {
            Field& face = rounded.faces(d);
            if (face == Field()) face = Field(backend_.template allocate<Face>(shape_), shape_);
            converting(face.with_ghosts(layers),
                       Convert<Face, Real>{face.view<Face>().from_ghost(layers), 1.0,
                                           L.faces(d).template view<Real>().from_ghost(layers)});
        }
        const int inner = layers - 1;
        backend_.for_each_cell(cells_for(L.x.with_ghosts(inner)),
                               RoundDiagonal<D, Real, Face>{StencilView<D, Real, Face>(rounded, inner),
                                                            StencilView<D, Real>(L, inner)});
    }

    template <class Body>
    Work converting(Field result, const Body& body) {
        const Cells cells = cells_for(result);
        backend_.for_each_cell(cells, body);
        const auto n = static_cast<double>(cells.count());
        return {Body::work.flops * n, Body::work.bytes * n};
    }

    // A body with as many terms as there are: the loop over them is unrolled inside the cell.
    template <std::size_t N = most_terms>
    Work combine_some(Field y, std::span<const double> c, std::span<const Field> x) {
        if constexpr (N > 1) {
            if (x.size() < N) return combine_some<N - 1>(y, c, x);
        }
        const auto view = views_for(y);
        Combine<N, Real> body{view(y), {}, {}};
        for (std::size_t n = 0; n < N; ++n) {
            body.c[n] = static_cast<Real>(c[n]);
            body.x[n] = view(x[n]);
        }
        return on(cells_for(y), body);
    }

    static std::size_t fields_of(const CopyEnd& end) {
        const auto* const packed = std::get_if<Packed>(&end);
        return packed ? packed->fields : std::get<std::span<const Field>>(end).size();
    }
    static std::size_t bytes_of_value(const CopyEnd& end) {
        const auto* const packed = std::get_if<Packed>(&end);
        return packed ? keel::bytes_of_value(packed->buffer.precision) : sizeof(Real);
    }
    // action(an end of copies of `count` fields, from the first-th on)
    template <class Action>
    static void with_values(std::span<const Field> u, std::size_t first, std::size_t count,
                            const Action& action) {
        InBoxes<Real> boxes{};
        for (std::size_t n = 0; n < count; ++n) boxes.u[n] = view_of(u[first + n]);
        action(boxes);
    }
    template <class Action>
    static void with_values(const Packed& packed, std::size_t first, std::size_t, const Action& action) {
        const Buffer& buffer = packed.buffer;
        if (buffer.precision == Precision::fp32)
            return action(InBuffer<float>{static_cast<float*>(buffer.data), packed.fields, first});
        check(precision_of<Real> == Precision::fp64, "messages are no more precise than their fields");
        action(InBuffer<Real>{static_cast<Real*>(buffer.data), packed.fields, first});
    }
    template <class Body>
    void copy_some(const Items<BlockCopy>& copies, std::size_t fields, std::optional<Colour> colour,
                   const Body& body) {
        if (colour)
            backend_.for_each_item(copies, fields, OfColour<Body>{body, static_cast<int>(*colour), parity_});
        else
            backend_.for_each_item(copies, fields, body);
    }

    template <class T>
    Items<T> keep(const std::vector<T>& items) {
        std::size_t cells = 0;
        std::size_t values = 0;
        for (const T& item : items) {
            cells += product(item.size());
            if constexpr (std::is_same_v<T, BlockCopy>)
                values = std::max({values, item.from.end(), item.to.end()});
        }
        return {backend_.keep(std::span<const T>(items)), items.size(), cells, values};
    }

    Backend backend_;
    std::vector<Window> windows_;  // one for each local box
    Shape shape_;
    const int* parity_ = nullptr;  // sum of the global indices of each block's first cell, mod 2
    const Window* kept_windows_ = nullptr;
};

}  // namespace keel
