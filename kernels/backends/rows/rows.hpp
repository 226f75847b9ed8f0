#pragma once

// Shared by backends that run on processor cores: loops over one row of cells, and the order of sums. Rows
// are functions of their own, with a body by value where they may be inlined: inside a parallel region the
// compiler takes the strides of the views for variables and gathers. They are flattened, that is, the body is
// inlined whatever the size of the file: GCC's budget for a file does not suffice, and a relaxation that
// calls a function per cell takes twice the time.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/backends/cells.hpp"
#include "kernels/bodies/vector.hpp"

namespace keel {

// Work on fewer cells runs on one thread: starting the others costs a microsecond or more. Where threads are
// watched, they are started for anything.
#if defined(KEEL_SERIAL_BELOW)
inline constexpr std::size_t serial_below = KEEL_SERIAL_BELOW;
#else
inline constexpr std::size_t serial_below = 4096;
#endif

// How far behind the start of its allocation the n-th field begins, in values: a multiple of 5 cache lines.
// Large allocations all start at the same place of a page; without the stagger, row (i,j,k) of every field
// would compete for the same few ways of the caches.
template <class Real = double>
constexpr std::size_t stagger(std::size_t n) {
    return n % 8 * 5 * (64 / sizeof(Real));
}

// A function of one colour of rows by the processor's widest vectors, which GCC avoids where processors of
// the past became slower by them: a tenth less time for half sweeps (measured). Other functions, on
// short rows above all, are not faster with them.
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

// The cells 2 half + odd of a row, low <= half < high. A body that may run twice on a cell runs in whole
// vectors; the first and the last overlap others, so that those between are aligned. The ends of a row, cell
// by cell, take as long as half of 64 cells do by vectors of 64 bytes. Narrower vectors gain nothing.
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

// Every other cell from the first one on; no cell reads what another writes. Not inlined: beside the values
// of the caller there are no registers for a dozen rows, which are then fetched from the stack for every
// cell.
template <class Body>
KEEL_WIDEST_VECTORS void every_other_in_row(const Body& body, int first, int high, int q, int j, int k) {
    if ((first & 1) == 0)
        every_other<0>(body, first >> 1, (high + 1) >> 1, q, j, k);
    else
        every_other<1>(body, first >> 1, high >> 1, q, j, k);
}

// A body of one cell as a body of the cells low <= i < high of a row: all or, where it says so, those of one
// colour.
template <class Body>
struct CellRow {
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

// The rows j_low <= j < j_high of the planes k_low <= k < k_high of block q.
// Each caller writes the two loops out: if a lambda took the row, GCC would leave the views in memory, and
// small levels would take a tenth longer.
struct Rows {
    int q, j_low, j_high, k_low, k_high;
};
constexpr Rows all_rows(const Cells& cells, int q) {
    return {q, 0, cells.extent[1], 0, cells.extent[2]};
}
// Threads take some rows of a plane at a time, so that finding the first one costs little.
inline constexpr int rows_at_a_time = 8;
constexpr int shares_of_plane(const Cells& cells) {
    return (cells.extent[1] + rows_at_a_time - 1) / rows_at_a_time;
}
constexpr int shares(const Cells& cells) {
    return cells.boxes * cells.extent[2] * shares_of_plane(cells);
}
constexpr Rows share(const Cells& cells, int number) {
    const int plane = number / shares_of_plane(cells);
    const int q = plane / cells.extent[2], k = plane % cells.extent[2];
    const int first = number % shares_of_plane(cells) * rows_at_a_time;
    return {q, first, std::min(first + rows_at_a_time, cells.extent[1]), k, k + 1};
}

template <class Row>
void take_rows(const Row& row, const Cells& cells, const Rows rows) {
    for (int k = rows.k_low; k < rows.k_high; ++k)
        for (int j = rows.j_low; j < rows.j_high; ++j) take_row(row, cells, rows.q, j, k);
}
// The views of an inlined body are passed once for all rows, which counts if rows are short.
template <class Body>
requires(!requires { Body::one_colour; })
    [[gnu::flatten, gnu::noinline]] void take_rows(const CellRow<Body> row, const Cells cells,
                                                   const Rows rows) {
    for (int k = rows.k_low; k < rows.k_high; ++k)
        for (int j = rows.j_low; j < rows.j_high; ++j) take_row(row, cells, rows.q, j, k);
}

// Values that lie evenly on either side.
template <class From, class To>
void move_values(const From* from, std::ptrdiff_t from_step, To* to, std::ptrdiff_t to_step, int values) {
    if (from_step == 1 && to_step == 1) {
#pragma omp simd
        for (int n = 0; n < values; ++n) to[n] = static_cast<To>(from[n]);
    } else {
        for (int n = 0; n < values; ++n) to[n * to_step] = static_cast<To>(from[n * from_step]);
    }
}

// Whether an item's body takes some cells only: then every other one of each line.
template <class Body, class T>
inline constexpr bool takes_some = requires(const Body& body, const T& item) {
    body.takes(item, 0, 0, 0);
};

// Moves the values of an item line by line in one direction. In a row every other value lies evenly (View),
// in columns each does.
template <std::size_t along, class T, class Body>
void move_lines(const Body& body, const T& item, std::size_t field) {
    constexpr std::size_t across = along == 0 ? 1 : 0, beyond = along == 2 ? 1 : 2;
    constexpr int step = along == 0 || takes_some<Body, T> ? 2 : 1;
    const Index& n = item.size();
    const auto source = [&](const Index& c) { return &body.source(item, field, c[0], c[1], c[2]); };
    const auto target = [&](const Index& c) { return &body.target(item, field, c[0], c[1], c[2]); };
    Index at{};
    for (at[beyond] = 0; at[beyond] < n[beyond]; ++at[beyond])
        for (at[across] = 0; at[across] < n[across]; ++at[across])
            for (at[along] = 0; at[along] < std::min(step, n[along]); ++at[along]) {
                if constexpr (takes_some<Body, T>)
                    if (!body.takes(item, at[0], at[1], at[2])) continue;
                Index next = at;
                next[along] += step;
                move_values(source(at), source(next) - source(at), target(at), target(next) - target(at),
                            (n[along] - at[along] + step - 1) / step);
            }
}

template <class T, class Body>
[[gnu::flatten, gnu::noinline]] void walk_item(const Body& body, const T& item, std::size_t field) {
    const Index& n = item.size();
    if constexpr (requires { body.source(item, field, 0, 0, 0); }) {
        constexpr int enough = 8;  // cells of a line: of fewer it does not pay
        if (n[0] >= enough) return move_lines<0>(body, item, field);
        if (n[1] >= enough) return move_lines<1>(body, item, field);
        if (n[2] >= enough) return move_lines<2>(body, item, field);
    }
    std::size_t number = 0;
    for (int k = 0; k < n[2]; ++k)
        for (int j = 0; j < n[1]; ++j)
            for (int i = 0; i < n[0]; ++i) body(item, field, number++, i, j, k);
}

// --- Sums over slices, which are planes or, if there is one plane, some rows, and then over slices in order:
// they do not depend on the number of threads.

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

// In one plane, groups short rows so that a slice has at least 256 cells; else a slice is a plane.
constexpr int rows_of_slice(const Cells& cells) {
    constexpr int enough = 256;  // cells
    if (cells.extent[2] > 1) return cells.extent[1];
    return std::max(1, std::min(cells.extent[1], enough / std::max(1, cells.extent[0])));
}
constexpr int slices(const Cells& cells) {
    const int rows = rows_of_slice(cells);
    return cells.extent[2] > 1 ? cells.extent[2] : (cells.extent[1] + rows - 1) / rows;
}
constexpr Rows slice_of(const Cells& cells, int q, int slice) {
    if (cells.extent[2] > 1) return {q, 0, cells.extent[1], slice, slice + 1};
    const int first = slice * rows_of_slice(cells);
    return {q, first, std::min(cells.extent[1], first + rows_of_slice(cells)), 0, 1};
}
// The place of the n-th sum over a slice of box q.
constexpr std::size_t place_of_sum(const Cells& cells, std::size_t n, int q, int slice) {
    return static_cast<std::size_t>(q * slices(cells) + slice) * max_terms + n;
}
constexpr std::size_t sums_of_slices(const Cells& cells) {
    return place_of_sum(cells, 0, cells.boxes, 0);
}

// One sum over rows, not inlined, with the body by value, as every loop over rows.
template <class Body>
[[gnu::flatten, gnu::noinline]] double sum_of_rows(const Body body, const Cells cells, const Rows rows) {
    double sum = 0.0;
    for (int k = rows.k_low; k < rows.k_high; ++k)
        for (int j = rows.j_low; j < rows.j_high; ++j) sum += sum_of_row(body, cells.extent[0], rows.q, j, k);
    return sum;
}

// Several sums over short rows are formed one after the other, so that a body's views are passed once; over
// long rows row by row, so that a sum finds in the cache what the one before has read of a row.
template <class Body>
void sum_slice(const Body& body, std::size_t count, const Cells& cells, int q, int slice, double* partial) {
    constexpr int is_short = 32;  // cells
    const Rows rows = slice_of(cells, q, slice);
    double* const sums = partial + place_of_sum(cells, 0, q, slice);
    if (cells.extent[0] <= is_short || count == 1) {
        for (std::size_t n = 0; n < count; ++n) sums[n] = sum_of_rows(body.term(n), cells, rows);
        return;
    }
    std::fill_n(sums, count, 0.0);
    for (int k = rows.k_low; k < rows.k_high; ++k)
        for (int j = rows.j_low; j < rows.j_high; ++j)
            for (std::size_t n = 0; n < count; ++n)
                sums[n] += sum_of_row(body.term(n), cells.extent[0], q, j, k);
}

inline void add_slices(const double* partial, std::size_t count, const Cells& cells, double* sums) {
    for (std::size_t n = 0; n < count; ++n)
        for (int q = 0; q < cells.boxes; ++q) {
            double sum = 0.0;
            for (int s = 0; s < slices(cells); ++s) sum += partial[place_of_sum(cells, n, q, s)];
            sums[static_cast<int>(n) * cells.boxes + q] = sum;
        }
}

// --- Maxima. The bits of |v|, taken as an integer, are ordered as |v| is, with NaN above infinity. An
// integer maximum is vectorised where one of doubles must respect NaN and is not.

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
// The maximum over every other cell from the first one on.
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
