#include "kernels/backends/openmp/openmp.hpp"

#include <omp.h>

#include <new>

#include "kernels/backends/host_copy.hpp"
#include "kernels/backends/only_cycles.hpp"
#include "kernels/backends/openmp/gram.hpp"
#include "kernels/backends/openmp/large_pages.hpp"
#include "kernels/backends/openmp/wavefront.hpp"
#include "kernels/backends/operations_by_rows.hpp"

namespace keel {
namespace {

// Less work than serial_below is done outside of any parallel region: to enter one takes an allocation and some hundred
// nanoseconds even where its clause says that one thread will do, as much as the cells of a small box.
template <class Real>
class OpenMP {
  public:
    Real* allocate(const Shape& shape) {
        Real* data = reserve(shape.values());
        for_each_value(Field(data, shape), Fill<Real>{0});  // first touch by the thread that computes
        return data;
    }

    Real* allocate(std::size_t values) {
        Real* data = reserve(values);
        std::fill_n(data, values, Real(0));
        return data;
    }

    template <class T>
    const T* keep(std::span<const T> items) {
        auto copy = std::make_shared<std::vector<T>>(items.begin(), items.end());
        lists_.push_back(copy);
        return copy->data();
    }

    template <class Body>
    void for_each_value(Field u, const Body& body) {
        const Index& extent = u.shape().extent;
        const std::ptrdiff_t chunks =
            u.shape().blocks * static_cast<std::ptrdiff_t>(std::max(extent[1], extent[2]));
        const auto total = static_cast<std::ptrdiff_t>(u.shape().values());
        const std::ptrdiff_t chunk = chunks > 0 ? (total + chunks - 1) / chunks : 0;
        Real* const data = u.data<Real>();
        if (u.shape().values() < serial_below) return each_value(body, data, data + total);
#pragma omp parallel for schedule(static)
        for (std::ptrdiff_t c = 0; c < chunks; ++c)
            each_value(body, data + c * chunk, data + std::min(total, (c + 1) * chunk));
    }

    // Consecutive rows go to one thread. The copy of `row` is the thread's own, so that the compiler can keep what it
    // captured in registers.
    template <class Row>
    void for_each_row(const Cells& cells, Row row, std::size_t weight = 1) {
        const int n1 = cells.extent[1];
        const int n2 = cells.extent[2];
        if (weight * cells.count() < serial_below) {
            for (int q = 0; q < cells.boxes; ++q)
                for (int k = 0; k < n2; ++k)
                    for (int j = 0; j < n1; ++j) take_row(row, cells, q, j, k);
            return;
        }
#pragma omp parallel for collapse(3) schedule(static) firstprivate(row)
        for (int q = 0; q < cells.boxes; ++q)
            for (int k = 0; k < n2; ++k)
                for (int j = 0; j < n1; ++j) take_row(row, cells, q, j, k);
    }

    template <class Body>
    void for_each_cell(const Cells& cells, const Body& body) {
        for_each_row(cells, Row<Body>{body, cells});
    }

    template <class Body>
    void sum_over_cells(const Cells& cells, std::size_t count, Body body, double* sums) {
        partial_.resize(std::max(partial_.size(), sums_of_slices(cells)));
        double* const partial = partial_.data();
        const int all = slices(cells);
        if (cells.count() < serial_below) {
            for (int q = 0; q < cells.boxes; ++q)
                for (int s = 0; s < all; ++s) sum_slice(body, count, cells, q, s, partial);
        } else {
#pragma omp parallel for collapse(2) schedule(static) firstprivate(body)
            for (int q = 0; q < cells.boxes; ++q)
                for (int s = 0; s < all; ++s) sum_slice(body, count, cells, q, s, partial);
        }
        add_slices(partial, count, cells, sums);
    }

    template <class Body>
    double max_over_cells(const Cells& cells, Body body) {
        const int n0 = cells.extent[0], n1 = cells.extent[1],
                  n2 = cells.extent[2];  // as in rows.hpp, for Clang
        std::int64_t largest = 0;
        if (cells.count() < serial_below) {
            for (int q = 0; q < cells.boxes; ++q)
                for (int k = 0; k < n2; ++k)
                    for (int j = 0; j < n1; ++j) largest = std::max(largest, most_in_row(body, n0, q, j, k));
            return magnitude(largest);
        }
#pragma omp parallel for collapse(3) schedule(static) reduction(max : largest)
        for (int q = 0; q < cells.boxes; ++q)
            for (int k = 0; k < n2; ++k)
                for (int j = 0; j < n1; ++j) largest = std::max(largest, most_in_row(body, n0, q, j, k));
        return magnitude(largest);
    }

    template <class T, class Body>
    void for_each_item(const Items<T>& items, std::size_t fields, Body body) {
        const T* const list = items.data;
        if (items.cells * fields < serial_below) {
            for (std::size_t t = 0; t < items.count; ++t)
                for (std::size_t field = 0; field < fields; ++field) walk_item(body, list[t], field);
            return;
        }
#pragma omp parallel for schedule(dynamic)
        for (std::size_t t = 0; t < items.count; ++t) {
            for (std::size_t field = 0; field < fields; ++field) walk_item(body, list[t], field);
        }
    }

    template <class HostFormula>
    void assign(Field u, std::span<const Window> boxes, const Region& region, const HostFormula& formula) {
        assign_on_host(u.view<Real>(), boxes, region, formula,
                       [this](const Cells& cells, const auto& body) { this->for_each_cell(cells, body); });
    }
    std::vector<double> read(Field u, std::span<const Window> boxes, const Region& region) const {
        return read_on_host(u.view<Real>(), boxes, region);
    }
    void wait() const {}

  private:
    struct Free {
        void operator()(Real* p) const { ::operator delete[](p, std::align_val_t{64}); }
    };

    Real* reserve(std::size_t values) {
        const std::size_t skipped = stagger<Real>(blocks_.size());
        const std::size_t bytes = (values + skipped) * sizeof(Real);
        auto* raw = static_cast<Real*>(::operator new[](bytes, std::align_val_t{64}));
        prefer_large_pages(raw, bytes);
        blocks_.emplace_back(raw);
        return raw + skipped;
    }

    std::vector<std::unique_ptr<Real[], Free>> blocks_;
    std::vector<std::shared_ptr<void>> lists_;
    std::vector<double> partial_;
};

// Half sweeps in one pass over memory, in either precision.
template <class Base, class Real = double>
class FusedHalfSweeps : public Base {
  public:
    using Base::Base;
    using Base::relax;

    Work relax(Field u, const Stencil& L, Field f, std::span<const Colour> colours,
               double relaxation) override {
        if (colours.empty()) return {};
        return this->in_dimensions([&](auto D) {
            return this->template with_relaxation<D>(relaxation, [&](const auto& relaxed) {
                const auto sweeps = this->template half_sweeps<D>(u, L, f, colours, relaxed);
                const auto row = this->view_of(u).row * static_cast<std::ptrdiff_t>(sizeof(Real));
                Wavefront(std::span(sweeps), row, D).run();
                Work work = this->work({0, D + 3, 1}, sweeps.front().cells.count());
                for (const auto& [cells, body] : sweeps)
                    work.flops += body.cost.flops * static_cast<double>(cells.count() / 2);
                return work;
            });
        });
    }
};

// And Gram matrices.
class OpenMPOperations : public FusedHalfSweeps<OperationsByRows<OpenMP<double>>> {
  public:
    using FusedHalfSweeps::FusedHalfSweeps;

    Work gram(std::span<const Field> x, std::span<const Field> y, std::span<double> sums) override {
        check_gram(x, y, sums);
        const bool serial = cells() * (x.size() + y.size()) < serial_below;
        if (!x.empty())
            tiles_.run(x, y, layout().extent(), windows(), serial ? 1 : omp_get_max_threads(), sums);
        return gram_work(x.size(), y.size());
    }

  private:
    GramTiles tiles_;
};

using OpenMPCycles =
    FusedHalfSweeps<CyclesByRows<CycleOperationsOn<OpenMP<float>, float, OnlyCycles>, float>, float>;

class OpenMPBackend : public Backend {
  public:
    std::string name() const override { return "openmp"; }
    std::string description() const override {
        return "OpenMP, " + std::to_string(threads()) + (threads() == 1 ? " thread" : " threads") +
               " per rank";
    }
    int threads() const override { return omp_get_max_threads(); }
    std::unique_ptr<Operations> make_operations(const Layout& layout, int ghosts,
                                                Storage storage) const override {
        return std::make_unique<OpenMPOperations>(layout, ghosts, arrange(layout, storage, threads()));
    }
    std::unique_ptr<Operations> make_cycle_operations(const Layout& layout, int ghosts,
                                                      Storage storage) const override {
        return std::make_unique<OpenMPCycles>(layout, ghosts, arrange(layout, storage, threads()));
    }
};

}  // namespace

std::unique_ptr<Backend> make_openmp_backend() {
    return std::make_unique<OpenMPBackend>();
}

}  // namespace keel
