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

// A function of one colour of rows by the processor's widest vectors, which GCC avoids where processors of the past became slower by
// them: a tenth less time for half sweeps (results/speed). Everything else, of short rows above all, is not quicker by them.
#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__)
#define KEEL_WIDEST_VECTORS [[gnu::flatten, gnu::noinline, gnu::target("prefer-vector-width=512")]]
#else
#define KEEL_WIDEST_VECTORS [[gnu::flatten, gnu::noinline]]
#endif

template <class Body, class Real>
[[gnu::flatten]] void each_value(const Body body, Real* first, const Real* last) {
#pragma omp simd
    for (Real* value = first; value < last; ++value) body(*value);
}

// Even and odd cells lie apart (View): each half of a row is a loop of its own.
template <class Body>
[[gnu::flatten]] void each_in_row(const Body body, int low, int high, int q, int j, int k) {
#pragma omp simd
    for (int half = (low + 1) >> 1; half < (high + 1) >> 1; ++half) body(q, 2 * half, j, k);
#pragma omp simd
    for (int half = low >> 1; half < high >> 1; ++half) body(q, 2 * half + 1, j, k);
}

// The cells 2 half + odd of a row, low <= half < high. What may be done twice is done in whole vectors, of which the first and
// the last overlap others so that those between are aligned: the ends of a row, cell by cell, take as long as half of 64 cells
// do by vectors of 64 bytes. With narrower ones nothing is gained.
template <int odd, class Body>
[[gnu::always_inline]] inline void every_other(const Body& body, int low, int high, int q, int j, int k) {
    const auto run = [&](int from, int to) {
#pragma omp simd
        for (int half = from; half < to; ++half) body(q, 2 * half + odd, j, k);
    };
    constexpr int vector = __BIGGEST_ALIGNMENT__;  // bytes
    if constexpr (vector >= 64 && requires { Body::repeatable; }) {
        const auto* const first = &body.cell(q, 2 * low + odd, j, k);
        constexpr int whole = vector / sizeof(*first);
        if (high - low >= 2 * whole) {
            const auto behind =
                static_cast<int>(reinterpret_cast<std::uintptr_t>(first) / sizeof(*first) % whole);
            if (behind > 0) {
                run(low, low + whole);
                low += whole - behind;
            }
            const int rest = (high - low) % whole;
            run(low, high - rest);
            if (rest > 0) run(high - whole, high);
            return;
        }
    }
    run(low, high);
}

// Every other cell from the first one on, none of which reads what another writes. Not inlined: among what the caller keeps in
// registers there is no room for a dozen rows, which are then fetched from the stack for every cell.
template <class Body>
KEEL_WIDEST_VECTORS void every_other_in_row(const Body& body, int first, int high, int q, int j, int k) {
    if ((first & 1) == 0)
        every_other<0>(body, first >> 1, (high + 1) >> 1, q, j, k);
    else
        every_other<1>(body, first >> 1, high >> 1, q, j, k);
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

// Every other value of a row moves by a step of its own on either side (View).
template <class Real>
void move_values(const Real* from, std::ptrdiff_t from_step, Real* to, std::ptrdiff_t to_step, int values) {
    if (from_step == 1 && to_step == 1) {
#pragma omp simd
        for (int n = 0; n < values; ++n) to[n] = from[n];
    } else {
        for (int n = 0; n < values; ++n) to[n * to_step] = from[n * from_step];
    }
}

template <class T, class Body>
[[gnu::flatten]] void walk_item(const Body body, const T item, std::size_t field) {
    // No structured binding: Clang takes none into a region of OpenMP.
    const int n0 = item.size()[0], n1 = item.size()[1], n2 = item.size()[2];
    constexpr int some = 8;  // of fewer it does not pay
    std::size_t n = 0;
    for (int k = 0; k < n2; ++k)
        for (int j = 0; j < n1; ++j) {
            const auto at = [&](int i) { return n + static_cast<std::size_t>(i); };
            // Every other cell from the first or from the second one on is one that the body takes, or none is.
            constexpr bool takes_some = requires {
                body.takes(item, 0, j, k);
            };
            const auto takes = [&](int i) {
                if constexpr (takes_some) return body.takes(item, i, j, k);
                return true;
            };
            const auto each = [&] {
                for (int i = takes(0) ? 0 : 1; i < n0; i += takes_some ? 2 : 1)
                    body(item, field, at(i), i, j, k);
            };
            if constexpr (requires { body.source(item, field, n, 0, j, k); }) {
                for (int i = 0; i < 2 && n0 >= some; ++i) {
                    if (!takes(i)) continue;
                    const auto* const from = &body.source(item, field, at(i), i, j, k);
                    auto* const to = &body.target(item, field, at(i), i, j, k);
                    move_values(from, &body.source(item, field, at(i + 2), i + 2, j, k) - from, to,
                                &body.target(item, field, at(i + 2), i + 2, j, k) - to, (n0 - i + 1) >> 1);
                }
                if (n0 < some) each();
            } else {
                each();
            }
            n += static_cast<std::size_t>(n0);
        }
}

// --- Sums, by slices first, which are planes or, of the only one, some rows, and then over these in order: they do not depend
// on the number of threads.

// Pairs of cells from `first` on, in the same order whether that is an even cell or an odd one.
template <class Body>
[[gnu::flatten]] double sum_of_row(const Body body, int first, int cells, int q, int j, int k) {
    const int low = first >> 1;
    const int last = low + (cells >> 1);
    double sum = 0.0;
    if ((first & 1) == 0) {
#pragma omp simd reduction(+ : sum)
        for (int pair = low; pair < last; ++pair)
            sum += body(q, 2 * pair, j, k) + body(q, 2 * pair + 1, j, k);
    } else {
#pragma omp simd reduction(+ : sum)
        for (int pair = low; pair < last; ++pair)
            sum += body(q, 2 * pair + 1, j, k) + body(q, 2 * pair + 2, j, k);
    }
    if ((cells & 1) != 0) sum += body(q, first + cells - 1, j, k);
    return sum;
}
template <class Body>
double sum_of_row(const Body& body, int cells, int q, int j, int k) {
    return sum_of_row(body, 0, cells, q, j, k);
}
// In a window, which begins at any cell of its block.
template <class Body>
double sum_of_row(const InWindow<Body>& boxes, int cells, int q, int j, int k) {
    const Window& w = boxes.windows[q];
    return sum_of_row(boxes.body, w.at[0], cells, w.block, w.at[1] + j, w.at[2] + k);
}

// Of rows of few cells so many that what is kept of a slice is little beside its cells.
constexpr int rows_of_slice(const Cells& cells) {
    constexpr int enough = 256;  // cells
    if (cells.extent[2] > 1) return cells.extent[1];
    return std::max(1, std::min(cells.extent[1], enough / std::max(1, cells.extent[0])));
}
constexpr int slices(const Cells& cells) {
    const int rows = rows_of_slice(cells);
    return cells.extent[2] > 1 ? cells.extent[2] : (cells.extent[1] + rows - 1) / rows;
}
// The rows low <= j < high of plane k that a slice of a box has.
struct SliceRows {
    int low, high, k;

    constexpr SliceRows(const Cells& cells, int slice) {
        const bool plane = cells.extent[2] > 1;
        low = plane ? 0 : slice * rows_of_slice(cells);
        high = std::min(cells.extent[1], low + rows_of_slice(cells));
        k = plane ? slice : 0;
    }
};
// Where the n-th sum over a slice of box q is kept.
constexpr std::size_t place_of_sum(const Cells& cells, std::size_t n, int q, int slice) {
    return static_cast<std::size_t>(q * slices(cells) + slice) * max_terms + n;
}
constexpr std::size_t sums_of_slices(const Cells& cells) {
    return place_of_sum(cells, 0, cells.boxes, 0);
}

template <class Body>
void sum_slice(const Body& body, std::size_t count, const Cells& cells, int q, int slice, double* partial) {
    const SliceRows rows(cells, slice);
    double sums[max_terms] = {};
    for (int j = rows.low; j < rows.high; ++j)
        for (std::size_t n = 0; n < count; ++n)
            sums[n] += sum_of_row(body.term(n), cells.extent[0], q, j, rows.k);
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
    for (int pair = 0; pair < cells >> 1; ++pair)
        most = std::max(most, std::max(magnitude_bits(body(q, 2 * pair, j, k)),
                                       magnitude_bits(body(q, 2 * pair + 1, j, k))));
    return (cells & 1) == 0 ? most : std::max(most, magnitude_bits(body(q, cells - 1, j, k)));
}
// Of every other cell from the first one on.
template <class Body>
KEEL_WIDEST_VECTORS std::int64_t most_of_every_other(const Body body, int first, int high, int q, int j,
                                                     int k) {
    std::int64_t most = 0;
    if ((first & 1) == 0) {
#pragma omp simd reduction(max : most)
        for (int half = first >> 1; half < (high + 1) >> 1; ++half)
            most = std::max(most, magnitude_bits(body(q, 2 * half, j, k)));
    } else {
#pragma omp simd reduction(max : most)
        for (int half = first >> 1; half < high >> 1; ++half)
            most = std::max(most, magnitude_bits(body(q, 2 * half + 1, j, k)));
    }
    return most;
}

}  // namespace keel
