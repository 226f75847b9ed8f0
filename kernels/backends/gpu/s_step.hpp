#pragma once

// s-step methods between exchanges, in one launch each: the powers of bases with their Gram matrix, a Gram
// matrix alone, and several combinations of many vectors.

#include <algorithm>

#include "kernels/backends/gpu/block_system.hpp"
#include "kernels/backends/gpu/kernels.hpp"
#include "kernels/bodies/powers.hpp"
#include "kernels/layout/storage.hpp"

namespace keel {
namespace {

// Threads of a block for this much work: a power of two.
constexpr int threads_for(std::size_t cells) {
    int threads = 32;
    while (threads < most_block_threads && static_cast<std::size_t>(threads) < cells) threads *= 2;
    return threads;
}

// A basis of this degree, and the Gram matrix of two of them, fit into a block's shared memory.
constexpr int most_degree = 16;
constexpr int most_vectors = 2 * most_degree + 2;  // a Gram matrix has
constexpr int most_pairs = static_cast<int>(gram_pairs(most_vectors - 1, 1));
constexpr int gram_slices = 4;
constexpr int gram_group = 16;  // cells
constexpr int values_of_gram = gram_slices * most_pairs + gram_group * most_vectors;

// The n-th pair of Operations::gram.
struct GramPair {
    int i, j;

    __device__ static GramPair at(int n, int columns) {
        int i = 0;
        for (int row = columns; n >= row; n -= row--) ++i;
        return {i, i + n};
    }
};

// partial[(n * boxes + q) * chunks + c] = the n-th of Operations::gram over chunk c of box q: of x vectors
// with themselves and with y others. No padding: launches are compared by bytes (device.hpp).
struct GramOfBoxes {
    static constexpr bool barriers = true;
    static constexpr int most_threads = most_block_threads;

    View shape;  // all vectors have it
    const Window* windows;
    double* partial;
    double* v[most_vectors];
    Index extent;
    Chunks chunks;
    int boxes, x, y, threads;

    Grid grid() const {
        return {dim3(static_cast<unsigned>(chunks.count), static_cast<unsigned>(boxes)),
                dim3(static_cast<unsigned>(threads))};
    }
    __device__ void operator()() const {
        __shared__ double shared[values_of_gram];
        of_chunk(static_cast<int>(blockIdx.y), static_cast<int>(blockIdx.x), shared);
    }
    // Threads hold a tile of cells of all vectors in shared memory, values_of_gram values, and take a pair on
    // every fourth cell each, group by group: the order of a sum depends on the cells alone. Before and after
    // it all threads are at one.
    __device__ void of_chunk(int q, int c, double* shared) const {
        const Window& box = windows[q];
        const int begin = c * chunks.chunk;
        const int end = begin + chunks.chunk < chunks.rows ? begin + chunks.chunk : chunks.rows;
        const int cells = (end - begin) * extent[0];
        const int thread = static_cast<int>(threadIdx.x);
        const int all = x + y;
        const int pairs =
            static_cast<int>(gram_pairs(static_cast<std::size_t>(x), static_cast<std::size_t>(y)));
        const int tasks = gram_slices * pairs;
        double* const tile = shared + tasks;
        const int most = (values_of_gram - tasks) / all / gram_group * gram_group;
        const auto value = [&](int n, int m) {
            const int row = begin + n / extent[0];
            return View::at(v[m], shape.place(box.block, box.at[0] + n % extent[0],
                                              box.at[1] + row % extent[1], box.at[2] + row / extent[1]));
        };
        __syncthreads();
        for (int t = thread; t < tasks; t += threads) shared[t] = 0.0;
        for (int first = 0; first < cells; first += most) {
            const int here = std::min(most, cells - first);
            for (int n = thread; n < here * all; n += threads)
                tile[n % here * all + n / here] = value(first + n % here, n / here);
            __syncthreads();
            for (int t = thread; t < tasks; t += threads) {
                const auto [i, j] = GramPair::at(t % pairs, all);
                double sum = shared[t];
                for (int group = 0; group < here; group += gram_group) {
                    double part = 0.0;
                    for (int cell = group + t / pairs; cell < std::min(group + gram_group, here);
                         cell += gram_slices)
                        part += tile[cell * all + i] * tile[cell * all + j];
                    sum += part;
                }
                shared[t] = sum;
            }
            __syncthreads();
        }
        for (int n = thread; n < pairs; n += threads) {
            double sum = shared[n];
            for (int slice = 1; slice < gram_slices; ++slice) sum += shared[slice * pairs + n];
            partial[(n * boxes + q) * chunks.count + c] = sum;
        }
        __syncthreads();
    }
};

// All powers of bases whose ghost layers allow it (Operations::powers): a block of threads makes those of a
// box, each on a ghost layer less, so that none needs another box's. Then the Gram matrix of the vectors, if
// there is one of `gram`.
template <int D, DiagonalScaling scaling>
struct PowersOfBoxes {
    static constexpr bool barriers = true;
    static constexpr int most_threads = most_block_threads;

    StencilView<D> L;
    double* s;
    double* before[most_bases];  // before the first vector of a basis
    ThreeTerms c[most_degree];   // `count` of them
    GramOfBoxes gram;            // v: the vectors of the bases, one basis after the other
    int lengths[most_bases];
    int count, bases;

    Grid grid() const { return gram.grid(); }
    __device__ void operator()() const {
        __shared__ double shared[values_of_gram];
        const int q = static_cast<int>(blockIdx.y);
        for (int n = 0; n < count; ++n) {
            const int layers = count - 1 - n;
            const int n0 = gram.extent[0] + 2 * layers;
            const int n1 = gram.extent[1] + 2 * layers;
            const int n2 = D == 3 ? gram.extent[2] + 2 * layers : 1;
            double* const* v = gram.v;
            for (int b = 0; b < bases; v += lengths[b++]) {
                if (n + 1 >= lengths[b]) continue;
                double* const older = c[n][2] == 0.0 ? v[n] : n > 0 ? v[n - 1] : before[b];
                const NextVectors<D, scaling> next{
                    L, L.of_shape(s), c[n], {L.of_shape(v[n + 1])}, {L.of_shape(v[n])}, {L.of_shape(older)}};
                for (int t = static_cast<int>(threadIdx.x); t < n0 * n1 * n2; t += gram.threads)
                    next(q, t % n0 - layers, t / n0 % n1 - layers, D == 3 ? t / (n0 * n1) - layers : 0);
            }
            __syncthreads();
        }
        if (gram.x > 0) gram.of_chunk(q, 0, shared);
    }
};

// Combinations one after the other, cell by cell: a y may be among the x of those after it.
struct Combinations {
    static constexpr int most = 3;

    View shape;
    double* y[most];
    double c[most][most_vectors];
    double* x[most][most_vectors];
    int terms[most];
    int count;

    constexpr void operator()(int q, int i, int j, int k) const {
        const std::ptrdiff_t place = shape.place(q, i, j, k);
        for (int m = 0; m < count; ++m) {
            double sum = c[m][0] * View::at(x[m][0], place);
            for (int n = 1; n < terms[m]; ++n) sum += c[m][n] * View::at(x[m][n], place);
            View::at(y[m], place) = sum;
        }
    }
};

}  // namespace
}  // namespace keel
