#include "tests/faults/faults.hpp"

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/timing/decorated_operations.hpp"

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
    const Field hit = fields_[n].second;
    const Shape& shape = hit.shape();
    const auto span = [&](std::size_t d) {
        return static_cast<std::size_t>(shape.extent[d] + 2 * shape.ghosts);
    };
    const int q = choose(static_cast<std::size_t>(shape.blocks));
    const int k = choose(span(2)), j = choose(span(1)), i = choose(span(0));
    strike(hit.view().from_ghost(shape.ghosts)(q, i, j, k),
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

class FaultyOperations : public DecoratedOperations<FaultyOperations> {
  public:
    FaultyOperations(std::unique_ptr<Operations> inner, Answer* answer)
        : DecoratedOperations(inner->layout()), inner_(std::move(inner)), answer_(answer) {}
    ~FaultyOperations() override { faults().remove(this); }
    FaultyOperations(const FaultyOperations&) = delete;
    FaultyOperations& operator=(const FaultyOperations&) = delete;

    Field make_field() override {
        const Field field = inner_->make_field();
        faults().add(this, field);
        return field;
    }
    Work residual(Field r, const Stencil& L, Field u, Field f) override {
        return around(Op::residual, [&](Operations& inner) {
            if (answer_ != nullptr && L.part == Part::all) {
                const Region cells = cube(layout().width());
                *answer_ = {inner.read(u, cells), inner.read(f, cells)};
            }
            return inner.residual(r, L, u, f);
        });
    }

  private:
    friend DecoratedOperations;

    Operations& inner() const { return *inner_; }

    // The fault strikes before the operation if it is due.
    template <class Action>
    auto set_up(const Action& action) {
        faults().before_operation();
        return action(*inner_);
    }
    template <class Action>
    Work around(Op, const Action& action) {
        return set_up(action);
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

// The calls that carry doubles in solves of keel.
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
