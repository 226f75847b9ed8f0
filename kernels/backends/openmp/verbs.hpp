#pragma once

// The verbs of the OpenMP backend (kernels/backends/cycle_operations_on.hpp), for fields of either precision.

#include <omp.h>

#include <algorithm>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "kernels/backends/host_copy.hpp"
#include "kernels/backends/openmp/gram.hpp"
#include "kernels/backends/openmp/large_pages.hpp"
#include "kernels/backends/openmp/wavefront.hpp"
#include "kernels/backends/rows/rows.hpp"
#include "kernels/operations.hpp"

namespace keel {

// Less work than serial_below is done outside of any parallel region. To enter a region takes an allocation
// and some hundred nanoseconds, as much as the cells of a small box, even if a clause allows one thread only.
template <class Real>
class OpenMP {
  public:
    template <class Value = Real>
    Value* allocate(const Shape& shape) {
        Value* data = reserve<Value>(shape.values());
        // First touch by the thread that computes.
        for_each_value<Value>(Field(data, shape), Fill<Value>{Value(0.0f)});
        return data;
    }

    Real* allocate(std::size_t values) {
        Real* data = reserve<Real>(values);
        std::fill_n(data, values, Real(0));
        return data;
    }

    template <class T>
    const T* keep(std::span<const T> items) {
        auto copy = std::make_shared<std::vector<T>>(items.begin(), items.end());
        lists_.push_back(copy);
        return copy->data();
    }

    template <class Value = Real, class Body>
    void for_each_value(Field u, const Body& body) {
        const Index& extent = u.shape().extent;
        const std::ptrdiff_t chunks =
            u.shape().blocks * static_cast<std::ptrdiff_t>(std::max(extent[1], extent[2]));
        const auto total = static_cast<std::ptrdiff_t>(u.shape().values());
        const std::ptrdiff_t chunk = chunks > 0 ? (total + chunks - 1) / chunks : 0;
        Value* const data = u.data<Value>();
        if (u.shape().values() < serial_below) return each_value(body, data, data + total);
#pragma omp parallel for schedule(static)
        for (std::ptrdiff_t c = 0; c < chunks; ++c)
            each_value(body, data + c * chunk, data + std::min(total, (c + 1) * chunk));
    }

    // Consecutive rows go to one thread. Each thread has a copy of `row`, so that the compiler can keep
    // captured values in registers.
    template <class Row>
    void for_each_row(const Cells& cells, Row row, std::size_t weight = 1) {
        if (weight * cells.count() < serial_below) {
            for (int q = 0; q < cells.boxes; ++q) take_rows(row, cells, all_rows(cells, q));
            return;
        }
        const int all = shares(cells);
#pragma omp parallel for schedule(static) firstprivate(row)
        for (int n = 0; n < all; ++n) take_rows(row, cells, share(cells, n));
    }

    template <class Body>
    void for_each_cell(const Cells& cells, const Body& body, std::size_t weight = 1) {
        for_each_row(cells, CellRow<Body>{body, cells}, weight);
    }

    template <class Body>
    void sum_over_cells(const Cells& cells, std::size_t count, const Body& body, double* sums) {
        partial_.resize(std::max(partial_.size(), sums_of_slices(cells)));
        double* const partial = partial_.data();
        const int all = slices(cells);
        if (cells.count() < serial_below) {
            for (int q = 0; q < cells.boxes; ++q)
                for (int s = 0; s < all; ++s) sum_slice(body, count, cells, q, s, partial);
        } else {
#pragma omp parallel for collapse(2) schedule(static)
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

    template <class Stage>
    void run_in_one_pass(std::span<const Stage> stages, const EndOfPass* end, std::ptrdiff_t bytes_of_rows,
                         int dimensions) {
        keel::run_in_one_pass(stages, end, bytes_of_rows, dimensions);
    }
    void gram(std::span<const Field> x, std::span<const Field> y, const Index& extent,
              std::span<const Window> windows, std::span<double> sums) {
        const std::size_t values = product(extent) * windows.size() * (x.size() + y.size());
        tiles_.run(x, y, extent, windows, values < serial_below ? 1 : omp_get_max_threads(), sums);
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
        void operator()(void* p) const { ::operator delete[](p, std::align_val_t{64}); }
    };

    template <class Value>
    Value* reserve(std::size_t values) {
        const std::size_t skipped = stagger<Value>(blocks_.size());
        const std::size_t bytes = (values + skipped) * sizeof(Value);
        auto* raw = static_cast<Value*>(::operator new[](bytes, std::align_val_t{64}));
        prefer_large_pages(raw, bytes);
        blocks_.emplace_back(raw);
        return raw + skipped;
    }

    std::vector<std::unique_ptr<void, Free>> blocks_;
    std::vector<std::shared_ptr<void>> lists_;
    std::vector<double> partial_;
    GramTiles tiles_;
};

}  // namespace keel
