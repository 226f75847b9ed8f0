#pragma once

// A whole solve in one launch of one block of threads (bodies/krylov/single_launch.hpp).

#include "kernels/backends/gpu/block_system.hpp"
#include "kernels/backends/gpu/kernels.hpp"
#include "kernels/bodies/krylov/bicgstab.hpp"
#include "kernels/bodies/krylov/cg.hpp"
#include "kernels/bodies/krylov/chebyshev.hpp"
#include "kernels/bodies/krylov/pipelined_cg.hpp"
#include "kernels/bodies/krylov/single_launch.hpp"

namespace keel {
namespace {

// The residuals of a solve; one thread of the block stores them.
struct BlockResiduals {
    double* value;
    int count;
    bool stores;

    KEEL_BODY void push_back(double residual) {
        if (stores) value[count] = residual;
        ++count;
    }
};

// As the bodies write it.
struct BlockReport : Verdict {
    BlockResiduals residuals;
    Vanished vanished = {};

    KEEL_BODY Outcome breakdown(Vanished quantity) {
        vanished = quantity;
        return Outcome::breakdown;
    }
    KEEL_BODY Outcome converged(double residual) {
        residuals.push_back(residual);
        return Outcome::converged;
    }
};

// As the host reads it; the residuals lie behind it.
struct BlockResult {
    Verdict verdict;
    Cost cost;
    Vanished vanished;
    int residuals;
};

struct NoPreconditioner {
    KEEL_BODY void apply(double*, double*) const {}
};

// Vectors one behind the other.
struct BlockVectors {
    double* first;
    std::int64_t distance;  // in values

    KEEL_BODY double* operator[](std::size_t n) const {
        return first + static_cast<std::int64_t>(n) * distance;
    }
    KEEL_BODY BlockVectors from(std::size_t n) const { return {(*this)[n], distance}; }
};

template <int D>
struct MethodOfBlock {
    static constexpr int vectors = 5;

    BlockSystem<D>& A;
    LaunchedMethod method;
    double lowest, highest;
    BlockVectors v;

    KEEL_BODY Outcome iterate(const KrylovRun<double*>& run, BlockReport& report) const {
        switch (method) {
            case LaunchedMethod::bicgstab:
                return bodies::bicgstab(A, run, report, {v[0], v[1], v[2], v[3], v[4]});
            case LaunchedMethod::bicgstab_fused:
                return bodies::bicgstab_fused(A, run, report, {v[0], v[1], v[2], v[3], v[4]});
            case LaunchedMethod::cg:
                return bodies::cg(A, run, report, v[0], v[1]);
            case LaunchedMethod::pipelined_cg:
                return bodies::pipelined_cg(A, static_cast<NoPreconditioner*>(nullptr), true, run, report,
                                            {v[0], v[1], v[2], v[3], v[4], run.r, v[0], v[3]});
            case LaunchedMethod::chebyshev:
                return bodies::chebyshev(A, run, report, lowest, highest, v[0], v[1]);
            default:
                return Outcome::not_tested;
        }
    }
};

// No padding: launches are told apart by bytes (device.hpp).
template <int D>
struct SolveInBlock {
    static constexpr bool barriers = true;
    static constexpr int most_threads = most_block_threads;
    static constexpr int own_vectors = 5;  // scaled, b, y, r, best

    LevelOfBlock level;
    StencilView<D> L;
    double* u;
    double* f;
    double* scale;
    BlockVectors vector;  // from cell (0,0,0)
    BlockResult* result;
    double unit, lowest, highest;
    Stop stop;
    LaunchedMethod method;
    DiagonalScaling scaling;
    std::int64_t threads;

    Grid grid() const { return {dim3(1), dim3(static_cast<unsigned>(threads))}; }

    __device__ void operator()() const {
        __shared__ double shared[values_shared];
        const int thread = static_cast<int>(threadIdx.x);
        BlockSystem<D> A(level, L, scaling, scale, unit, vector[0], shared, thread,
                         static_cast<int>(threads));
        BlockReport report{{}, {reinterpret_cast<double*>(result + 1), 0, thread == 0}};
        solve(A, report);
        if (thread != 0) return;
        report.counts = A.counts();
        *result = {report, A.cost(), report.vanished, report.residuals.count};
    }

  private:
    __device__ void solve(BlockSystem<D>& A, BlockReport& report) const {
        double *const b = vector[1], *const y = vector[2], *const r = vector[3], *const best = vector[4];
        if (scaling == DiagonalScaling::symmetric)
            A.multiply(b, scale, f);
        else
            A.copy(b, f);
        MethodOfBlock<D> of_block{A, method, lowest, highest, vector.from(own_vectors)};
        bodies::verify_and_restart(A, of_block, r, best, y, b, stop, report);
        if (scaling == DiagonalScaling::none)
            A.copy(u, y);
        else
            A.multiply(u, scale, y);
    }
};

// The memory of such solves on one level.
struct BlockMemory {
    // Residuals that are copied with the result.
    std::size_t residuals_at_once() const { return std::min<std::size_t>(residuals, 256); }

    LevelOfBlock level;
    double* vectors;
    void* result;
    void* on_host;
    std::size_t residuals;  // room for so many
    long waits_before;      // of the host for the device, when the copy of the last result was begun
};

inline std::vector<CellPlace> cells_of(const Shape& shape) {
    std::vector<CellPlace> cells;
    const auto as = [](int n) { return static_cast<std::int16_t>(n); };
    for (int q = 0; q < shape.blocks; ++q)
        for (int k = 0; k < shape.extent[2]; ++k)
            for (int j = 0; j < shape.extent[1]; ++j)
                for (int i = 0; i < shape.extent[0]; ++i) cells.push_back({as(q), as(i), as(j), as(k)});
    return cells;
}

inline std::vector<GhostCopy> ghosts_of(std::span<const BlockCopy> copies) {
    std::vector<GhostCopy> ghosts;
    const auto place = [](const BlockEnd& end, int i, int j, int k) -> CellPlace {
        const Index at = end.at + Index{i, j, k};
        return {static_cast<std::int16_t>(end.box), static_cast<std::int16_t>(at[0]),
                static_cast<std::int16_t>(at[1]), static_cast<std::int16_t>(at[2])};
    };
    for (const BlockCopy& copy : copies)
        for (int k = 0; k < copy.extent[2]; ++k)
            for (int j = 0; j < copy.extent[1]; ++j)
                for (int i = 0; i < copy.extent[0]; ++i)
                    ghosts.push_back({place(copy.to, i, j, k), place(copy.from, i, j, k)});
    return ghosts;
}

}  // namespace
}  // namespace keel
