#pragma once

// How the threads of a GPU walk over the cells of a whole level: one launch for all boxes. A kernel is a
// functor; what a cell computes is a body of kernels/.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "kernels/backends/cells.hpp"
#include "kernels/backends/gpu/runtime.hpp"
#include "kernels/bodies/transfer.hpp"
#include "kernels/bodies/vector.hpp"
#include "kernels/operations.hpp"

namespace keel {
namespace {

struct Grid {
    dim3 blocks;
    dim3 threads;
};

constexpr int divided_up(int n, int by) {
    return (n + by - 1) / by;
}

// Threads along a row: the least power of two that covers it, at most a warp's 32 (half a wavefront's), so
// that the loads of consecutive threads are of consecutive cells.
constexpr int threads_along(int cells) {
    int n = 1;
    while (n < cells && n < 32) n *= 2;
    return n;
}

// The blocks of a row follow each other, so that what they read together is one piece of memory.
inline Grid grid_of_rows(int columns, std::int64_t rows) {
    const int x = threads_along(columns);
    const int y = threads_per_block / x;
    return {dim3(static_cast<unsigned>((rows + y - 1) / y * divided_up(columns, x))),
            dim3(static_cast<unsigned>(x), static_cast<unsigned>(y))};
}

inline Grid grid_of_values(std::int64_t count) {
    return {dim3(static_cast<unsigned>((count + threads_per_block - 1) / threads_per_block)),
            dim3(threads_per_block)};
}

// Blocks that keep any device busy to the end: some for each of a hundred and more multiprocessors, several
// times.
constexpr std::int64_t enough_blocks = 4096;

// A body on every cell. A thread takes one column (i,j) of cells and marches through `planes` of them, so
// that what the next plane shares with this one is still in the nearest cache, if that leaves blocks enough.
// In a coloured range a column holds the cells of that colour alone: no thread is idle, and a warp's loads
// are two cells apart in lines that its block uses whole.
template <class Body>
struct ForEachCell {
    static constexpr bool barriers = false;

    Cells cells;
    Body body;
    Index low;  // layers left out on each side of the interior
    Index high;
    int columns;
    int planes;
    int chunks;      // each has `planes` planes
    int unused = 0;  // no padding: launches are compared by bytes (device.hpp)
    std::int64_t rows;

    ForEachCell(const Cells& range, const Body& what) : cells(range), body(what) {
        low = cells.part == Part::interior ? cells.margin : Index{};
        high = cells.extent + -low;
        const int n = high[0] - low[0] > 0 ? high[0] - low[0] : 0;
        columns = divided_up(n, cells.step());
        const int depth = high[2] - low[2] > 0 ? high[2] - low[2] : 0;
        const int height = high[1] - low[1] > 0 ? high[1] - low[1] : 0;
        planes = 32;
        do {
            planes /= 2;
            chunks = divided_up(depth, planes);
            rows = static_cast<std::int64_t>(cells.boxes) * chunks * height;
        } while (planes > 1 && blocks() < enough_blocks);
    }
    std::int64_t blocks() const { return grid().blocks.x; }
    Grid grid() const { return grid_of_rows(columns, rows); }
    bool empty() const { return rows == 0 || columns == 0; }

    __device__ void operator()() const {
        const auto blocks_of_row = static_cast<unsigned>(divided_up(columns, static_cast<int>(blockDim.x)));
        const std::int64_t row = std::int64_t{blockIdx.x / blocks_of_row} * blockDim.y + threadIdx.y;
        if (row >= rows) return;
        const int height = high[1] - low[1];
        const int j = low[1] + static_cast<int>(row % height);
        const int rest = static_cast<int>(row / height);
        const int q = rest / chunks;
        const int first = low[2] + rest % chunks * planes;
        const int last = first + planes < high[2] ? first + planes : high[2];
        const int column = static_cast<int>(blockIdx.x % blocks_of_row * blockDim.x + threadIdx.x);
        if (column >= columns) return;
        const int i = low[0] + column * cells.step();
        int shift = cells.first(low[0], q, j, first) - low[0];  // by turns 0 and 1 in a coloured range
        for (int k = first; k < last; ++k) {
            if (i + shift < high[0]) body(q, i + shift, j, k);
            shift = cells.step() - 1 - shift;
        }
    }
};

// A body on the cells of the shell: two slabs for each direction, those of z with all edges.
template <class Body>
struct ForEachShellCell {
    static constexpr bool barriers = false;

    Cells cells;
    Body body;
    int in_z, in_y, in_x;  // cells of a box in the slabs of each direction
    int unused = 0;        // no padding: launches are compared by bytes (device.hpp)

    ForEachShellCell(const Cells& range, const Body& what) : cells(range), body(what) {
        const auto [n0, n1, n2] = cells.extent;
        const auto [x, y, z] = 2 * cells.margin;
        in_z = z * n0 * n1;
        in_y = y * n0 * (n2 - z);
        in_x = x * (n1 - y) * (n2 - z);
    }
    Grid grid() const {
        return {dim3(static_cast<unsigned>(divided_up(in_z + in_y + in_x, threads_per_block)),
                     static_cast<unsigned>(cells.boxes)),
                dim3(threads_per_block)};
    }

    // The n-th of the layers on both sides of a direction.
    __device__ int layer(int n, int direction) const {
        const auto d = static_cast<std::size_t>(direction);
        return n < cells.margin[d] ? n : cells.extent[d] - 2 * cells.margin[d] + n;
    }
    __device__ void operator()() const {
        const auto [n0, n1, n2] = cells.extent;
        const auto [m0, m1, m2] = cells.margin;
        const int q = static_cast<int>(blockIdx.y);
        int n = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
        int i = 0;
        int j = 0;
        int k = 0;
        if (n < in_z) {
            i = n % n0;
            j = n / n0 % n1;
            k = layer(n / (n0 * n1), 2);
        } else if ((n -= in_z) < in_y) {
            i = n % n0;
            j = layer(n / n0 % (2 * m1), 1);
            k = m2 + n / (n0 * 2 * m1);
        } else if ((n -= in_y) < in_x) {
            i = layer(n % (2 * m0), 0);
            j = m1 + n / (2 * m0) % (n1 - 2 * m1);
            k = m2 + n / (2 * m0 * (n1 - 2 * m1));
        } else {
            return;
        }
        if (cells.first(i, q, j, k) == i) body(q, i, j, k);
    }
};

// A body on every value of a field, ghosts and padding included.
template <class Real, class Body>
struct ForEachValue {
    static constexpr bool barriers = false;

    Real* values;
    std::int64_t count;
    Body body;

    Grid grid() const { return grid_of_values(count); }
    __device__ void operator()() const {
        const std::int64_t n = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
        if (n < count) body(values[n]);
    }
};

// A body on the cells of every item of every field: for each item and field as many blocks as its cells want,
// taking items to be of one size, so that a few large faces keep a device busy.
template <class T, class Body>
struct ForEachItem {
    static constexpr bool barriers = false;

    Items<T> items;
    std::size_t fields;
    Body body;

    Grid grid() const {
        constexpr std::size_t cells_of_thread = 4;
        constexpr std::size_t most = 256;
        const std::size_t blocks = items.cells / (items.count * cells_of_thread * threads_per_block);
        return {dim3(static_cast<unsigned>(items.count), static_cast<unsigned>(fields),
                     static_cast<unsigned>(std::clamp(blocks, std::size_t{1}, most))),
                dim3(threads_per_block)};
    }
    __device__ void operator()() const {
        const T& item = items.data[blockIdx.x];
        const auto [n0, n1, n2] = item.size();
        const int threads = static_cast<int>(gridDim.z * blockDim.x);
        for (int n = static_cast<int>(blockIdx.z * blockDim.x + threadIdx.x); n < n0 * n1 * n2; n += threads)
            body(item, std::size_t{blockIdx.y}, static_cast<std::size_t>(n), n % n0, n / n0 % n1,
                 n / (n0 * n1));
    }
};

// Calls visit(i, j, k) for this thread's cells of a chunk of rows of a box.
template <class Visit>
__device__ void visit_rows(const Index& extent, int first, int last, const Visit& visit) {
    for (int row = first + static_cast<int>(threadIdx.y); row < last; row += static_cast<int>(blockDim.y))
        for (int i = static_cast<int>(threadIdx.x); i < extent[0]; i += static_cast<int>(blockDim.x))
            visit(i, row % extent[1], row / extent[1]);
}

// Calls action(n) for n = 0 ... N-1 as constants, so that an array indexed by n stays in registers.
template <class Action, std::size_t... n>
__device__ void unrolled(const Action& action, std::index_sequence<n...>) {
    (action(std::integral_constant<std::size_t, n>{}), ...);
}
template <std::size_t N, class Action>
__device__ void unrolled(const Action& action) {
    unrolled(action, std::make_index_sequence<N>{});
}

// Rows of boxes in chunks of about `cells` cells, whatever the device and the number of boxes: the order of a
// box's sum depends on the box alone. Results without an order can do with fewer cells.
struct Chunks {
    int rows;   // rows of a box
    int chunk;  // rows in a chunk
    int count;  // chunks in a box

    static Chunks of(const Index& extent, int cells = 16384) {
        const int rows = extent[1] * extent[2];
        const int chunk = cells / extent[0] > 0 ? cells / extent[0] : 1;
        return {rows, chunk, divided_up(rows, chunk)};
    }
    Grid grid(int boxes, int width) const {
        const int x = threads_along(width);
        return {dim3(static_cast<unsigned>(count), static_cast<unsigned>(boxes)),
                dim3(static_cast<unsigned>(x), static_cast<unsigned>(threads_per_block / x))};
    }
};

// How the values of cells are joined: to sums; or to the largest |value|, infinite where one is not finite.
struct Sum {
    static constexpr double term(double value) { return value; }
    static constexpr double join(double a, double b) { return a + b; }
};
struct Largest {
    static __device__ double term(double value) { return std::isfinite(value) ? std::abs(value) : HUGE_VAL; }
    static constexpr double join(double a, double b) { return a < b ? b : a; }
};

// partial[(n * boxes + q) * chunks + c] = the n-th of `count` <= N results over chunk c of box q. A tree over
// the block's threads.
template <class Join, std::size_t N, class Body>
struct JoinCells {
    static constexpr bool barriers = true;

    Cells cells;
    Chunks chunks;
    Body body;
    int count;
    double* partial;

    Grid grid() const { return chunks.grid(cells.boxes, cells.extent[0]); }
    __device__ void operator()() const {
        __shared__ double tree[N][threads_per_block];
        const int q = static_cast<int>(blockIdx.y);
        const int c = static_cast<int>(blockIdx.x);
        const int t = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
        const int first = c * chunks.chunk;
        const int last = first + chunks.chunk < chunks.rows ? first + chunks.chunk : chunks.rows;
        double joined[N] = {};
        visit_rows(cells.extent, first, last, [&](int i, int j, int k) {
            unrolled<N>([&](auto n) {
                if (static_cast<int>(n) < count)
                    joined[n] = Join::join(joined[n], Join::term(body(n, q, i, j, k)));
            });
        });
        unrolled<N>([&](auto n) { tree[n][t] = joined[n]; });
        __syncthreads();
        for (int half = threads_per_block / 2; half > 0; half /= 2) {
            for (int n = 0; n < count && t < half; ++n)
                tree[n][t] = Join::join(tree[n][t], tree[n][t + half]);
            __syncthreads();
        }
        for (int n = 0; n < count && t == 0; ++n)
            partial[(n * cells.boxes + q) * chunks.count + c] = tree[n][0];
    }
};

// results[s] = the chunks partial[s * chunks + c] joined, c in order
template <class Join>
struct JoinChunks {
    static constexpr bool barriers = false;

    const double* partial;
    double* results;
    int count;
    int chunks;

    Grid grid() const { return grid_of_values(count); }
    __device__ void operator()() const {
        const int s = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
        if (s >= count) return;
        double joined = 0.0;
        for (int c = 0; c < chunks; ++c) joined = Join::join(joined, partial[s * chunks + c]);
        results[s] = joined;
    }
};

// coarse = mean of the fine residuals, which are never stored. A thread adds up the residuals of the fine
// cells (i, 2j..2j+1, 2k..2k+1), in two dimensions (i, 2j..2j+1), so that consecutive threads load
// consecutive cells; its neighbour's complete the mean.
template <int D, class Real, class Body>
struct RestrictResidualPairs {
    static constexpr bool barriers = true;

    Cells cells;  // on the coarse level
    Body body;
    std::int64_t rows;

    RestrictResidualPairs(const Cells& coarse, const Body& what)
        : cells(coarse),
          body(what),
          rows(static_cast<std::int64_t>(coarse.boxes) * coarse.extent[1] * coarse.extent[2]) {}
    // At least two threads along a row, which one block takes: a block for each part of it is slower,
    // measured.
    Grid grid() const { return grid_of_rows(threads_along(2 * cells.extent[0]), rows); }

    __device__ void operator()() const {
        __shared__ Real halves[threads_per_block];
        const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
        const int j = static_cast<int>(row % cells.extent[1]);
        const int k = static_cast<int>(row / cells.extent[1] % cells.extent[2]);
        const int q = static_cast<int>(row / (cells.extent[1] * cells.extent[2]));
        const int t = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
        const int width = 2 * cells.extent[0];
        for (int start = 0; start < width; start += static_cast<int>(blockDim.x)) {
            const int i = start + static_cast<int>(threadIdx.x);
            const bool inside = row < rows && i < width;
            Real sum = 0;
            if (inside)
                for (int n = 0; n < children(D - 1); ++n)
                    sum += body.residual(q, i, 2 * j + n % 2, D == 2 ? k : 2 * k + n / 2);
            halves[t] = sum;
            __syncthreads();
            if (inside && i % 2 == 0)
                body.coarse(q, i / 2, j, k) = Real(1) / children(D) * (halves[t] + halves[t + 1]);
            __syncthreads();
        }
    }
};

}  // namespace
}  // namespace keel
