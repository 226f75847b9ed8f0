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

// partial[(n * boxes + q) * chunks + c] = the n-th of Operations::gram over chunk c of box q: of x vectors
// with themselves and with y others. No padding: launches are told apart by bytes (device.hpp).
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
        __shared__ double shared[values_shared];
        of_chunk(static_cast<int>(blockIdx.y), static_cast<int>(blockIdx.x), shared);
    }
    __device__ void of_chunk(int q, int c, double* shared) const {
        const Window& box = windows[q];
        const int first = c * chunks.chunk;
        const int last = first + chunks.chunk < chunks.rows ? first + chunks.chunk : chunks.rows;
        const auto value = [&](int n, int m) {
            const int row = first + n / extent[0];
            return View::at(v[m], shape.place(box.block, box.at[0] + n % extent[0],
                                              box.at[1] + row % extent[1], box.at[2] + row / extent[1]));
        };
        const auto store = [&](int n, double sum) { partial[(n * boxes + q) * chunks.count + c] = sum; };
        gram_of_block((last - first) * extent[0], value, x, y, shared, values_shared,
                      static_cast<int>(threadIdx.x), threads, store);
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
    double* before[most_bases];          // before the first vector of a basis
    ThreeTerms c[most_launched_degree];  // `count` of them
    GramOfBoxes gram;                    // v: the vectors of the bases, one basis after the other
    int lengths[most_bases];
    int count, bases;

    Grid grid() const { return gram.grid(); }
    __device__ void operator()() const {
        __shared__ double shared[values_shared];
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
