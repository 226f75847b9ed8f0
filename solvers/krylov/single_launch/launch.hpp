#pragma once

// The kernel of the single launch, compiled by each device backend's compiler: cuda.cu, hip.hip and
// gpu_emulated.cpp include this file. It holds the launch and nothing else; the loops stand beside their
// rows.

#include "kernels/backends/gpu/block_system.hpp"
#include "kernels/backends/gpu/device.hpp"
#include "solvers/krylov/bicgstab/bicgstab.hpp"
#include "solvers/krylov/cg/cg.hpp"
#include "solvers/krylov/cg/pipelined_cg.hpp"
#include "solvers/krylov/single_launch/launched_solve.hpp"
#include "solvers/krylov/stationary/chebyshev_iteration.hpp"
#include "solvers/krylov/verify_and_restart.hpp"

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

// As the loops write it.
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

struct NoPreconditioner {
    KEEL_BODY void apply(double*, double*) const {}
};

template <int D>
struct MethodOfBlock {
    BlockSystem<D>& A;
    LaunchedMethod method;
    double lowest, highest;
    BlockVectors v;

    KEEL_BODY Outcome iterate(const KrylovRun<double*>& run, BlockReport& report) const {
        switch (method) {
            case LaunchedMethod::bicgstab:
                return krylov::bicgstab(A, run, report, {v[0], v[1], v[2], v[3], v[4]});
            case LaunchedMethod::bicgstab_fused:
                return krylov::bicgstab_fused(A, run, report, {v[0], v[1], v[2], v[3], v[4]});
            case LaunchedMethod::cg:
                return krylov::cg(A, run, report, v[0], v[1]);
            case LaunchedMethod::pipelined_cg:
                return krylov::pipelined_cg(A, static_cast<NoPreconditioner*>(nullptr), true, run, report,
                                            {v[0], v[1], v[2], v[3], v[4], run.r, v[0], v[3]});
            case LaunchedMethod::chebyshev:
                return krylov::chebyshev(A, run, report, lowest, highest, v[0], v[1]);
            default:
                return Outcome::not_tested;
        }
    }
};

// No padding: launches are compared by bytes (device.hpp).
template <int D>
struct SolveInBlock {
    static constexpr bool barriers = true;
    static constexpr int most_threads = most_block_threads;

    LevelOfBlock level;
    StencilView<D> L;
    double* u;
    double* f;
    double* scale;
    BlockVectors vector;
    LaunchResult* result;
    double unit, lowest, highest;
    Stop stop;
    LaunchedMethod method;
    DiagonalScaling scaling;
    std::int64_t threads;

    Grid grid() const { return {dim3(1), dim3(static_cast<unsigned>(threads))}; }

    __device__ void operator()() const {
        __shared__ double shared[values_shared];
        const int thread = static_cast<int>(threadIdx.x);
        auto* const verdict = reinterpret_cast<LaunchedVerdict*>(result + 1);
        auto* const residuals = reinterpret_cast<double*>(verdict + 1);
        BlockSystem<D> A(level, L, scaling, scale, unit, vector[0], shared, thread,
                         static_cast<int>(threads));
        BlockReport report{{}, {residuals, 0, thread == 0}};
        solve(A, report);
        if (thread != 0) return;
        report.counts = A.counts();
        *verdict = {report, report.vanished};
        *result = {A.cost(), residuals + report.residuals.count - reinterpret_cast<double*>(verdict)};
    }

  private:
    __device__ void solve(BlockSystem<D>& A, BlockReport& report) const {
        double *const b = vector[1], *const y = vector[2], *const r = vector[3], *const best = vector[4];
        if (scaling == DiagonalScaling::symmetric)
            A.multiply(b, scale, f);
        else
            A.copy(b, f);
        MethodOfBlock<D> of_block{A, method, lowest, highest, vector.from(launched_outside)};
        krylov::verify_and_restart(A, of_block, r, best, y, b, stop, report);
        if (scaling == DiagonalScaling::none)
            A.copy(u, y);
        else
            A.multiply(u, scale, y);
    }
};

template <int D>
BlockKernel solve_in_block(const LaunchedSolve& solve, const BlockMemory& memory) {
    return Device::handed(SolveInBlock<D>{.level = memory.level,
                                          .L = StencilView<D>(solve.A.L),
                                          .u = solve.u.view().origin,
                                          .f = solve.f.view().origin,
                                          .scale = solve.A.s.view().origin,
                                          .vector = memory.vectors,
                                          .result = memory.result,
                                          .unit = solve.unit,
                                          .lowest = solve.lowest,
                                          .highest = solve.highest,
                                          .stop = solve.stop,
                                          .method = solve.method,
                                          .scaling = solve.A.scaling,
                                          .threads = memory.threads});
}

}  // namespace

// cuda_single_launch() and so on: a kernel for memory of this runtime, none for that of another one.
BlockKernel GPU(_single_launch)(const LaunchedSolve& solve, const BlockMemory& memory) {
    if (memory.runtime != KEEL_GPU_PREFIX) return {};
    return solve.dimensions == 2 ? solve_in_block<2>(solve, memory) : solve_in_block<3>(solve, memory);
}

}  // namespace keel
