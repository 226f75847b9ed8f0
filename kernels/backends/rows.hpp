#pragma once

// What backends that run on processor cores share: loops over one row of cells, and the order of sums. Rows are functions
// of their own, with a body by value where they may be inlined: inside a parallel region the compiler takes the strides of
// the views for variables and gathers. They are flattened, that is, the body is inlined whatever the size of the file: GCC's budget for a file does
// not suffice, and a relaxation that calls a function per cell takes twice the time.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/backends/cells.hpp"
#include "kernels/bodies/stencil.hpp"
#include "kernels/bodies/transfer.hpp"
#include "kernels/bodies/vector.hpp"

namespace keel {

// Work on fewer cells runs on one thread: starting the others costs a microsecond or more. Where threads are watched, they are
// started for anything.
#if defined(KEEL_SERIAL_BELOW)
inline constexpr std::size_t serial_below = KEEL_SERIAL_BELOW;
#else
inline constexpr std::size_t serial_below = 4096;
#endif

// How far behind the start of its allocation the n-th field begins, in values: a multiple of 5 cache lines. Large
// allocations all start at the same place of a page; without the stagger, row (i,j,k) of every field would compete for
// the same few ways of the caches.
template <class Real = double>
constexpr std::size_t stagger(std::size_t n) {
    return n % 8 * 5 * (64 / sizeof(Real));
}

template <class Body, class Real>
[[gnu::flatten]] void each_value(const Body body, Real* first, const Real* last) {
#pragma omp simd
    for (Real* value = first; value < last; ++value) body(*value);
}

template <class Body>
[[gnu::flatten]] void each_in_row(const Body body, int low, int high, int q, int j, int k) {
#pragma omp simd
    for (int i = low; i < high; ++i) body(q, i, j, k);
}

// Not inlined: among what the caller keeps in registers there is no room for a dozen rows, which are then fetched from the
// stack for every cell.
template <class Body>
[[gnu::flatten, gnu::noinline]] void every_other_in_row(const Body& body, int first, int high, int q, int j,
                                                        int k) {
    for (int i = first; i < high; i += 2) body(q, i, j, k);
}

// A body of one cell as a body of the cells low <= i < high of a row: all or, where it says so, those of one colour.
template <class Body>
struct Row {
    Body body;
    Cells cells;

    void operator()(int low, int high, int q, int j, int k) const {
        if constexpr (requires { Body::one_colour; })
            every_other_in_row(body, cells.first(low, q, j, k), high, q, j, k);
        else
            each_in_row(body, low, high, q, j, k);
    }
};

// A row's body on those of its cells that belong to the part.
template <class Row>
void take_row(const Row& row, const Cells& cells, int q, int j, int k) {
    const Cells::Spans spans = cells.spans(j, k);
    for (int n = 0; n < 2; ++n)
        if (spans.low[n] < spans.high[n]) row(spans.low[n], spans.high[n], q, j, k);
}

template <class T, class Body>
[[gnu::flatten]] void walk_item(const Body body, const T item, std::size_t field) {
    // No structured binding: Clang takes none into a region of OpenMP.
    const int n0 = item.size()[0], n1 = item.size()[1], n2 = item.size()[2];
    std::size_t n = 0;
    for (int k = 0; k < n2; ++k)
        for (int j = 0; j < n1; ++j) {
#pragma omp simd
            for (int i = 0; i < n0; ++i) body(item, field, n + static_cast<std::size_t>(i), i, j, k);
            n += static_cast<std::size_t>(n0);
        }
}

// --- Sums, by slices first, which are planes or the rows of the only one, and then over these in order: they do not depend on
// the number of threads.

template <class Body>
[[gnu::flatten]] double sum_of_row(const Body body, int cells, int q, int j, int k) {
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < cells; ++i) sum += body(q, i, j, k);
    return sum;
}

constexpr int slices(const Cells& cells) {
    return cells.extent[2] > 1 ? cells.extent[2] : cells.extent[1];
}
// Where the n-th sum over a slice of box q is kept.
constexpr std::size_t place_of_sum(const Cells& cells, std::size_t n, int q, int slice) {
    return static_cast<std::size_t>(q * slices(cells) + slice) * max_terms + n;
}
constexpr std::size_t sums_of_slices(const Cells& cells) {
    return place_of_sum(cells, 0, cells.boxes, 0);
}

template <class Body>
void sum_slice(const Body& body, std::size_t count, const Cells& cells, int q, int slice, double* partial) {
    const bool plane = cells.extent[2] > 1;
    const int k = plane ? slice : 0;
    double sums[max_terms] = {};
    for (int j = plane ? 0 : slice; j < (plane ? cells.extent[1] : slice + 1); ++j)
        for (std::size_t n = 0; n < count; ++n) sums[n] += sum_of_row(body.term(n), cells.extent[0], q, j, k);
    std::copy_n(sums, count, partial + place_of_sum(cells, 0, q, slice));
}

inline void add_slices(const double* partial, std::size_t count, const Cells& cells, double* sums) {
    for (std::size_t n = 0; n < count; ++n)
        for (int q = 0; q < cells.boxes; ++q) {
            double sum = 0.0;
            for (int s = 0; s < slices(cells); ++s) sum += partial[place_of_sum(cells, n, q, s)];
            sums[static_cast<int>(n) * cells.boxes + q] = sum;
        }
}

// --- Maxima. The bits of |v|, taken as an integer, are ordered as |v| is, with NaN above infinity. An integer maximum is
// vectorised where one of doubles must respect NaN and is not.

constexpr std::int64_t magnitude_bits(double v) {
    return std::bit_cast<std::int64_t>(v) & std::numeric_limits<std::int64_t>::max();
}
inline double magnitude(std::int64_t bits) {
    const double value = std::bit_cast<double>(bits);
    return std::isfinite(value) ? value : std::numeric_limits<double>::infinity();
}

template <class Body>
[[gnu::flatten]] std::int64_t most_in_row(const Body body, int cells, int q, int j, int k) {
    std::int64_t most = 0;
#pragma omp simd reduction(max : most)
    for (int i = 0; i < cells; ++i) most = std::max(most, magnitude_bits(body(q, i, j, k)));
    return most;
}

// --- Restriction fused with the residual, as a body of a coarse row: the residuals of its fine rows are added up,
// some cells at a time. Cell by cell (RestrictResidual) the compiler cannot vectorise, for neighbours' fine cells are
// two apart.

template <int D, class Real>
[[gnu::flatten]] void add_row(Real* sums, const Residual<D, Real> residual, int first, int cells, int q,
                              int j, int k) {
#pragma omp simd
    for (int i = 0; i < cells; ++i) sums[i] += residual(q, first + i, j, k);
}
template <int D, class Real>
[[gnu::flatten]] void halve_row(const ViewOf<Real> coarse, const Real* sums, int first, int cells, int q,
                                int j, int k) {
    constexpr Real of_each = Real(1) / children(D);
#pragma omp simd
    for (int i = 0; i < cells; ++i) coarse(q, first + i, j, k) = of_each * (sums[2 * i] + sums[2 * i + 1]);
}

template <int D, class Real = double>
struct RestrictRow {
    ViewOf<Real> coarse;
    Residual<D, Real> residual;

    void operator()(int low, int high, int q, int j, int k) const {
        constexpr int some = 64;
        Real sums[2 * some];
        for (int first = low; first < high; first += some) {
            const int cells = std::min(some, high - first);
            std::fill_n(sums, 2 * cells, Real(0));
            for (int row = 0; row < children(D - 1); ++row)
                add_row(sums, residual, 2 * first, 2 * cells, q, 2 * j + row % 2,
                        D == 2 ? k : 2 * k + row / 2);
            halve_row<D>(coarse, sums, first, cells, q, j, k);
        }
    }
};

}  // namespace keel
