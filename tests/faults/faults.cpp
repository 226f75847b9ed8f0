#include "tests/faults/faults.hpp"

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace keel::test {

Faults& faults() {
    static Faults only;
    return only;
}

void Faults::remove(const Operations* owner) {
    std::erase_if(fields_, [&](const auto& field) { return field.first == owner; });
}

bool Faults::strikes(Place place) {
    return moments_[static_cast<std::size_t>(place)]++ == fault_.moment && place == fault_.place;
}

// One value in eight becomes NaN; of the others one bit flips, any of the 64.
void Faults::strike(double& value, const std::string& where) {
    const double before = value;
    if (fault_.choice % 8 == 0) {
        value = std::numeric_limits<double>::quiet_NaN();
    } else {
        std::uint64_t bits = 0;
        std::memcpy(&bits, &value, sizeof bits);
        bits ^= std::uint64_t{1} << (fault_.choice >> 3 & 63);
        std::memcpy(&value, &bits, sizeof bits);
    }
    happened_ = where + ": " + std::to_string(before) + " became " + std::to_string(value);
}

void Faults::before_operation() {
    if (!strikes(Place::field) || fields_.empty()) return;
    std::uint64_t choice = fault_.choice >> 16;
    const auto choose = [&](std::size_t from) {
        const std::uint64_t chosen = choice % from;
        choice = choice / from + fault_.choice % 65521;
        return static_cast<int>(chosen);
    };
    const std::size_t n = static_cast<std::size_t>(choose(fields_.size()));
    hit_ = fields_[n].second;
    const Shape& shape = hit_.shape();
    const auto span = [&](std::size_t d) {
        return static_cast<std::size_t>(shape.extent[d] + 2 * shape.ghosts);
    };
    const int q = choose(static_cast<std::size_t>(shape.blocks));
    const int k = choose(span(2)), j = choose(span(1)), i = choose(span(0));
    strike(hit_.view().from_ghost(shape.ghosts)(q, i, j, k),
           "field " + std::to_string(n) + " of " + std::to_string(shape.extent[0]) + " cells a row, block " +
               std::to_string(q) + ", cell " + std::to_string(i - shape.ghosts) + " " +
               std::to_string(j - shape.ghosts) + " " + std::to_string(k - shape.ghosts));
}

void Faults::before_sending(Place place, double* values, std::size_t count) {
    if (!strikes(place) || count == 0) return;
    const std::size_t n = (fault_.choice >> 16) % count;
    strike(values[n],
           std::string(name(place)) + ", word " + std::to_string(n) + " of " + std::to_string(count));
}

namespace {

class FaultyOperations : public Operations {
  public:
    FaultyOperations(std::unique_ptr<Operations> inner, Answer* answer)
        : inner_(std::move(inner)), answer_(answer) {}
    ~FaultyOperations() override { faults().remove(this); }
    FaultyOperations(const FaultyOperations&) = delete;
    FaultyOperations& operator=(const FaultyOperations&) = delete;

    const Layout& layout() const override { return inner_->layout(); }
    Field make_field() override {
        const Field field = inner_->make_field();
        faults().add(this, field);
        return field;
    }
    Buffer make_buffer(std::size_t values, Wire wire) override { return inner_->make_buffer(values, wire); }
    Items<BlockCopy> make_items(std::span<const BlockCopy> items) override {
        return inner_->make_items(items);
    }
    Items<BlockCopy> make_targets(std::span<const BlockCopy> items) override {
        return inner_->make_targets(items);
    }
    Items<BoundaryItem> make_items(std::span<const BoundaryItem> items) override {
        return inner_->make_items(items);
    }
    void assign(Field u, const Region& cells, const Formula& formula) override {
        next().assign(u, cells, formula);
    }
    std::vector<double> read(Field u, const Region& cells) const override { return inner_->read(u, cells); }
    void wait() const override { inner_->wait(); }

    Work fill(Field y, double value) override { return next().fill(y, value); }
    Work combine(Field y, std::span<const double> c, std::span<const Field> x) override {
        return next().combine(y, c, x);
    }
    Work combine_all(std::span<const Combination> combinations) override {
        return next().combine_all(combinations);
    }
    Work multiply(Field z, Field x, Field y) override { return next().multiply(z, x, y); }
    Work divide(Field z, Field x, Field y) override { return next().divide(z, x, y); }
    Work square_root(Field y, Field x) override { return next().square_root(y, x); }
    Work shift(Field y, double amount) override { return next().shift(y, amount); }
    Work take_column(Field y, Field x, const Bricks& bricks, int column) override {
        return next().take_column(y, x, bricks, column);
    }
    Work dots(std::span<const Product> products, std::span<double> sums) override {
        return next().dots(products, sums);
    }
    Work gram(std::span<const Field> x, std::span<const Field> y, std::span<double> sums) override {
        return next().gram(x, y, sums);
    }
    Work accurate_gram(std::span<const Field> x, std::span<const Field> y, std::span<double> sums) override {
        return next().accurate_gram(x, y, sums);
    }
    Work totals(Field x, std::span<double> sums) override { return next().totals(x, sums); }
    Work max_norm(Field x, double& norm) override { return next().max_norm(x, norm); }

    Work apply(Field out, const Stencil& L, Field u) override { return next().apply(out, L, u); }
    Work powers(std::span<const BasisVectors> bases, const ScaledStencil& A,
                std::span<const ThreeTerms> recurrences) override {
        return next().powers(bases, A, recurrences);
    }
    Work residual(Field r, const Stencil& L, Field u, Field f) override {
        Operations& inner = next();
        if (answer_ != nullptr && L.part == Part::all) {
            const Region cells = cube(layout().width());
            *answer_ = {inner.read(u, cells), inner.read(f, cells), {L.x, L.y, L.z, L.inverse_diagonal, f}};
        }
        return inner.residual(r, L, u, f);
    }
    Work residual_norm(const Stencil& L, Field u, Field f, double& norm) override {
        return next().residual_norm(L, u, f, norm);
    }
    Work relax(Field u, const Stencil& L, Field f, Colour colour, double relaxation) override {
        return next().relax(u, L, f, colour, relaxation);
    }
    Work relax(Field u, const Stencil& L, Field f, const HalfSweeps& sweeps) override {
        return next().relax(u, L, f, sweeps);
    }
    Work relax_and_restrict(Field coarse, Field u, const Stencil& L, Field f,
                            const HalfSweeps& sweeps) override {
        return next().relax_and_restrict(coarse, u, L, f, sweeps);
    }
    Work relax_and_measure(double& norm, Field u, const Stencil& L, Field f,
                           const HalfSweeps& sweeps) override {
        return next().relax_and_measure(norm, u, L, f, sweeps);
    }
    Work polynomial_step(Field p, double a, double b, const Stencil& L, Field u, Field f) override {
        return next().polynomial_step(p, a, b, L, u, f);
    }

    Work add_reaction(Field y, Field x, double scale, const Reaction& phi, Field u) override {
        return next().add_reaction(y, x, scale, phi, u);
    }
    Work relax_newton(Field u, const Stencil& L, const Reaction& phi, Field f, Colour colour) override {
        return next().relax_newton(u, L, phi, f, colour);
    }
    double factor_incompletely(Field inverse, const Stencil& L) override {
        return next().factor_incompletely(inverse, L);
    }
    double factor_exactly(Buffer factors, const Stencil& L) override {
        return next().factor_exactly(factors, L);
    }
    std::size_t exact_block_values() const override { return inner_->exact_block_values(); }
    Work solve_incompletely(Field z, const Stencil& L, Field inverse, Field r) override {
        return next().solve_incompletely(z, L, inverse, r);
    }
    Work solve_exactly(Field z, Buffer factors, Field r) override {
        return next().solve_exactly(z, factors, r);
    }

    Work restrict_to(Field coarse, Field fine) override { return next().restrict_to(coarse, fine); }
    Work restrict_residual(Field coarse, const Stencil& L, Field u, Field f) override {
        return next().restrict_residual(coarse, L, u, f);
    }
    Work interpolate_add(Field fine, Field coarse, Interpolation interpolation,
                         std::optional<Colour> colour) override {
        return next().interpolate_add(fine, coarse, interpolation, colour);
    }
    Work interpolate_quartic_add(Field fine, Field coarse) override {
        return next().interpolate_quartic_add(fine, coarse);
    }

    Work convert(Field to, Field from, double scale) override { return next().convert(to, from, scale); }
    Work add_converted(Field u, double scale, Field e) override { return next().add_converted(u, scale, e); }

    SparseRows make_rows(const CsrMatrix& A) override { return inner_->make_rows(A); }
    Work apply(std::span<const Field> y, const SparseRows& A, std::span<const Field> x) override {
        return next().apply(y, A, x);
    }
    Work sweep(Field x, const SparseRows& A, Field b, bool backward) override {
        return next().sweep(x, A, b, backward);
    }

    void restrict_faces(Field coarse, Field fine, int direction, double scale) override {
        next().restrict_faces(coarse, fine, direction, scale);
    }
    void complete_diagonal(const Stencil& L) override { next().complete_diagonal(L); }
    double jacobi_bound(const Stencil& L) override { return next().jacobi_bound(L); }

    Work fill_boundary(Field u, Items<BoundaryItem> ghosts, const MirrorFactors& factor) override {
        return next().fill_boundary(u, ghosts, factor);
    }
    Work pack(Buffer buffer, Items<BlockCopy> copies, std::span<const Field> u,
              std::optional<Colour> colour) override {
        return next().pack(buffer, copies, u, colour);
    }
    Work unpack(std::span<const Field> u, Items<BlockCopy> copies, Buffer buffer,
                std::optional<Colour> colour) override {
        return next().unpack(u, copies, buffer, colour);
    }
    Work copy_cells(std::span<const Field> u, Items<BlockCopy> copies,
                    std::optional<Colour> colour) override {
        return next().copy_cells(u, copies, colour);
    }
    Work forward(Buffer to, Items<BlockCopy> copies, Buffer from, std::size_t fields) override {
        return next().forward(to, copies, from, fields);
    }

  private:
    // What does the next operation, behind the fault if it is due.
    Operations& next() {
        faults().before_operation();
        return *inner_;
    }

    std::unique_ptr<Operations> inner_;
    Answer* answer_;
};

void before_sending(Place place, const void* values, int count, MPI_Datatype type) {
    if (type == MPI_DOUBLE)
        faults().before_sending(place, static_cast<double*>(const_cast<void*>(values)),
                                static_cast<std::size_t>(count));
}

}  // namespace

std::unique_ptr<Operations> FaultyBackend::make_operations(const Layout& layout, int ghosts,
                                                           Storage storage) const {
    auto operations = inner_->make_operations(layout, ghosts, storage);
    if (layout.cell_count() > product(finest_)) return operations;
    return std::make_unique<FaultyOperations>(std::move(operations),
                                              layout.cells() == finest_ ? answer_.get() : nullptr);
}

}  // namespace keel::test

// What carries doubles in keel's solves.
extern "C" {

int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
    keel::test::before_sending(keel::test::Place::message, data, count, type);
    return PMPI_Isend(data, count, type, to, tag, comm, request);
}

int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    keel::test::before_sending(keel::test::Place::sum, from == MPI_IN_PLACE ? to : from, count, type);
    return PMPI_Allreduce(from, to, count, type, op, comm);
}

int MPI_Iallreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request* request) {
    keel::test::before_sending(keel::test::Place::sum, from == MPI_IN_PLACE ? to : from, count, type);
    return PMPI_Iallreduce(from, to, count, type, op, comm, request);
}
}
