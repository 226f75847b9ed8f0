#include "kernels/backends/openmp/openmp.hpp"

#include <omp.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <new>

#include "kernels/backends/host_copy.hpp"
#include "kernels/backends/operations_on.hpp"

namespace keel {
namespace {

class OpenMP {
  public:
    // Work on fewer cells runs on one thread: a parallel region costs a microsecond or more.
    static constexpr std::size_t serial_below = 4096;

    double* allocate(const Shape& shape) {
        double* data = reserve(shape.values());
        for_each_value(Field(data, shape),
                       [](double& v) { v = 0.0; });  // first touch by the thread that computes
        return data;
    }

    double* allocate(std::size_t values) {
        double* data = reserve(values);
        std::fill_n(data, values, 0.0);
        return data;
    }

    template <class T>
    const T* keep(std::span<const T> items) {
        auto copy = std::make_shared<std::vector<T>>(items.begin(), items.end());
        lists_.push_back(copy);
        return copy->data();
    }

    template <class Body>
    void for_each_value(Field u, Body body) {
        const std::ptrdiff_t chunks = u.shape().boxes * static_cast<std::ptrdiff_t>(u.shape().width);
        const auto total = static_cast<std::ptrdiff_t>(u.shape().values());
        const std::ptrdiff_t chunk = chunks > 0 ? (total + chunks - 1) / chunks : 0;
#pragma omp parallel for schedule(static) if (u.shape().values() >= serial_below)
        for (std::ptrdiff_t c = 0; c < chunks; ++c) {
            const std::ptrdiff_t end = std::min(total, (c + 1) * chunk);
#pragma omp simd
            for (std::ptrdiff_t n = c * chunk; n < end; ++n) body(u.data()[n]);
        }
    }

    template <class Body>
    void for_each_cell(const Cells& cells, const Body& body) {
        if (cells.colour == Cells::every)
            for_each_row(cells, [body](int low, int high, int q, int j, int k) {
#pragma omp simd
                for (int i = low; i < high; ++i) body(q, i, j, k);
            });
        else
            for_each_row(cells, [body, cells](int low, int high, int q, int j, int k) {
                for (int i = cells.first(low, q, j, k); i < high; i += 2) body(q, i, j, k);
            });
    }

    // Partial sums by plane, then planes in order: the result does not depend on the number of threads.
    template <class Body>
    void sum_over_cells(const Cells& cells, std::size_t count, Body body, double* sums) {
        const auto [n0, n1, n2] = cells.extent;
        const auto planes = static_cast<std::size_t>(cells.boxes) * static_cast<std::size_t>(n2);
        partial_.resize(std::max(partial_.size(), planes * max_terms));
        double* const partial = partial_.data();
        const auto place = [n2](int q, int k, std::size_t n) {
            return static_cast<std::size_t>(q * n2 + k) * max_terms + n;
        };
#pragma omp parallel for collapse(2) schedule(static) firstprivate(body) if (cells.count() >= serial_below)
        for (int q = 0; q < cells.boxes; ++q)
            for (int k = 0; k < n2; ++k) {
                double plane[max_terms] = {};
                for (int j = 0; j < n1; ++j)
                    for (std::size_t n = 0; n < count; ++n) plane[n] += sum_of_row(body, n, n0, q, j, k);
                for (std::size_t n = 0; n < count; ++n) partial[place(q, k, n)] = plane[n];
            }
        for (std::size_t n = 0; n < count; ++n)
            for (int q = 0; q < cells.boxes; ++q) {
                double sum = 0.0;
                for (int k = 0; k < n2; ++k) sum += partial[place(q, k, n)];
                sums[static_cast<int>(n) * cells.boxes + q] = sum;
            }
    }

    // The bits of |v|, taken as an integer, are ordered as |v| is, with NaN above infinity. An integer maximum
    // is vectorised where one of doubles must respect NaN and is not.
    template <class Body>
    double max_over_cells(const Cells& cells, Body body) {
        const auto [n0, n1, n2] = cells.extent;
        std::int64_t largest = 0;
#pragma omp parallel for collapse(3) schedule(static) \
    reduction(max                                     \
              : largest) if (cells.count() >= serial_below)
        for (int q = 0; q < cells.boxes; ++q)
            for (int k = 0; k < n2; ++k)
                for (int j = 0; j < n1; ++j) largest = std::max(largest, most_in_row(body, n0, q, j, k));
        const double value = std::bit_cast<double>(largest);
        return std::isfinite(value) ? value : std::numeric_limits<double>::infinity();
    }

    template <class T, class Body>
    void for_each_item(const Items<T>& items, std::size_t fields, Body body) {
        const T* const list = items.data;
#pragma omp parallel for schedule(dynamic) if (items.cells * fields >= serial_below)
        for (std::size_t t = 0; t < items.count; ++t) {
            for (std::size_t field = 0; field < fields; ++field) walk_item(body, list[t], field);
        }
    }

    template <class HostFormula>
    void assign(Field u, const Region& region, const HostFormula& formula) {
        const View view = u.view();
        const auto [i0, j0, k0] = region.lo;
        for_each_cell({u.shape().boxes, region.size, Cells::every, nullptr, Part::all, 0},
                      [&, i0 = i0, j0 = j0, k0 = k0](int q, int i, int j, int k) {
                          view(q, i0 + i, j0 + j, k0 + k) = formula(q, i0 + i, j0 + j, k0 + k);
                      });
    }

    std::vector<double> read(Field u, const Region& region) const {
        return read_on_host(u.view(), u.shape().boxes, region);
    }

    void wait() const {}

  private:
    // Rows are functions of their own, with a body by value: inside a parallel region the compiler takes the strides
    // of the views for variables and gathers.
    template <class Body>
    static double sum_of_row(const Body body, std::size_t n, int cells, int q, int j, int k) {
        double sum = 0.0;
#pragma omp simd reduction(+ : sum)
        for (int i = 0; i < cells; ++i) sum += body(n, q, i, j, k);
        return sum;
    }

    template <class Body>
    static std::int64_t most_in_row(const Body body, int cells, int q, int j, int k) {
        constexpr std::int64_t no_sign = std::numeric_limits<std::int64_t>::max();
        std::int64_t most = 0;
#pragma omp simd reduction(max : most)
        for (int i = 0; i < cells; ++i)
            most = std::max(most, std::bit_cast<std::int64_t>(body(q, i, j, k)) & no_sign);
        return most;
    }

    template <class T, class Body>
    static void walk_item(const Body body, const T item, std::size_t field) {
        const auto [n0, n1, n2] = item.size();
        std::size_t n = 0;
        for (int k = 0; k < n2; ++k)
            for (int j = 0; j < n1; ++j) {
#pragma omp simd
                for (int i = 0; i < n0; ++i) body(item, field, n + static_cast<std::size_t>(i), i, j, k);
                n += static_cast<std::size_t>(n0);
            }
    }

    // Consecutive rows go to one thread. The copy of `row` is the thread's own, so that the compiler can keep what it
    // captured in registers.
    template <class Row>
    static void for_each_row(const Cells& cells, Row row) {
        const int n1 = cells.extent[1];
        const int n2 = cells.extent[2];
#pragma omp parallel for collapse(3) schedule(static) firstprivate(row) if (cells.count() >= serial_below)
        for (int q = 0; q < cells.boxes; ++q)
            for (int k = 0; k < n2; ++k)
                for (int j = 0; j < n1; ++j) {
                    const Cells::Row part = cells.row(j, k);
                    for (int n = 0; n < 2; ++n) row(part.low[n], part.high[n], q, j, k);
                }
    }

    struct Free {
        void operator()(double* p) const { ::operator delete[](p, std::align_val_t{64}); }
    };

    // Large allocations all start at the same place of a page; without the stagger, row (i,j,k) of every grid would
    // compete for the same few ways of the caches.
    double* reserve(std::size_t values) {
        const std::size_t stagger = blocks_.size() % 8 * 5 * 8;  // doubles: a multiple of 5 cache lines
        auto* raw =
            static_cast<double*>(::operator new[]((values + stagger) * sizeof(double), std::align_val_t{64}));
        blocks_.emplace_back(raw);
        return raw + stagger;
    }

    std::vector<std::unique_ptr<double[], Free>> blocks_;
    std::vector<std::shared_ptr<void>> lists_;
    std::vector<double> partial_;
};

// Restriction fused with the residual, by rows: the residuals of the four fine rows of a coarse row are added up in a
// buffer. Cell by cell (RestrictResidual) the compiler cannot vectorise, for neighbours' fine cells are two apart.
class OpenMPOperations : public OperationsOn<OpenMP> {
  public:
    using OperationsOn<OpenMP>::OperationsOn;

    Work restrict_residual(Field coarse, const Stencil& L, Field u, Field f) override {
        const Residual residual{StencilView(L), u.view(), f.view()};
        const Cells cells = coarser(coarse, L.part);
        const int width = cells.extent[0];
#pragma omp parallel if (8 * cells.count() >= OpenMP::serial_below)
        {
            std::vector<double> row(static_cast<std::size_t>(2 * width));
#pragma omp for collapse(3) schedule(static)
            for (int q = 0; q < cells.boxes; ++q)
                for (int k = 0; k < width; ++k)
                    for (int j = 0; j < width; ++j) {
                        const Cells::Row part = cells.row(j, k);
                        for (int n = 0; n < 2; ++n)
                            restrict_row(coarse.view(), row.data(), residual, part.low[n], part.high[n], q, j,
                                         k);
                    }
        }
        return RestrictResidual::cost * cells.count();
    }

  private:
    // The coarse cells low <= i < high of a row.
    static void restrict_row(const View coarse, double* row, const Residual& residual, int low, int high,
                             int q, int j, int k) {
        std::fill(row + 2 * low, row + 2 * std::max(low, high), 0.0);
        for (const int fine_k : {2 * k, 2 * k + 1})
            for (const int fine_j : {2 * j, 2 * j + 1})
                add_row(row, residual, 2 * low, 2 * high, q, fine_j, fine_k);
        halve_row(coarse, row, low, high, q, j, k);
    }
    static void add_row(double* row, const Residual residual, int low, int high, int q, int j, int k) {
#pragma omp simd
        for (int i = low; i < high; ++i) row[i] += residual(q, i, j, k);
    }
    static void halve_row(const View coarse, const double* row, int low, int high, int q, int j, int k) {
#pragma omp simd
        for (int i = low; i < high; ++i) coarse(q, i, j, k) = 0.125 * (row[2 * i] + row[2 * i + 1]);
    }
};

class OpenMPBackend : public Backend {
  public:
    std::string name() const override { return "openmp"; }
    std::string description() const override {
        return "OpenMP, " + std::to_string(threads()) + (threads() == 1 ? " thread" : " threads") +
               " per rank";
    }
    int threads() const override { return omp_get_max_threads(); }
    std::unique_ptr<Operations> make_operations(const Layout& layout, int ghosts) const override {
        return std::make_unique<OpenMPOperations>(layout, ghosts);
    }
};

}  // namespace

std::unique_ptr<Backend> make_openmp_backend() {
    return std::make_unique<OpenMPBackend>();
}

}  // namespace keel
