#pragma once

// Block Jacobi: each box of a level is a block of the operator, without the coupling between boxes. The
// bodies factor and solve one box (q is its number among the local ones, i = j = k = 0), cell after cell, x
// fastest: boxes are independent of each other, the cells of one are not. A device has one thread a box to
// work with.
//
// Block i of the matrix: D_i = the diagonal, whole, -c_f for the faces f between cells of the box.

#include <cmath>
#include <cstddef>

#include "kernels/bodies/stencil.hpp"
#include "kernels/layout/storage.hpp"

namespace keel {

// IC(0): M = (E + F) E^-1 (E + F^T), F the block below its diagonal. On 7 points no two neighbours have a
// common one, so there is no fill between them, and only the diagonal differs from the block's own:
//     E_i = D_i - SUM c_f^2 / E_lower   over the three neighbours before i in the box.
struct IncompleteBlocks {
    StencilView<3> L;
    View inverse;  // 1 / E
    const Window* windows;
    Index extent;  // cells of a box: one plane has no neighbours in z

    // The cost of both sweeps per cell: 7 flops each, 5 in two dimensions.
    static constexpr Cost solve_cost(std::size_t dimensions) {
        const auto d = static_cast<double>(dimensions);
        return {4 * d + 2, 2 * d + 4, 2};
    }

    // SUM c_f y_f over the neighbours before (i,j,k), or behind it.
    constexpr double before(const View& y, const Window& w, int i, int j, int k) const {
        const int q = w.block, a = w.at[0] + i, b = w.at[1] + j, c = w.at[2] + k;
        return (i > 0 ? L.x(q, a, b, c) * y(q, a - 1, b, c) : 0.0) +
               (j > 0 ? L.y(q, a, b, c) * y(q, a, b - 1, c) : 0.0) +
               (k > 0 ? L.z(q, a, b, c) * y(q, a, b, c - 1) : 0.0);
    }
    constexpr double behind(const View& y, const Window& w, int i, int j, int k) const {
        const int q = w.block, a = w.at[0] + i, b = w.at[1] + j, c = w.at[2] + k;
        return (i + 1 < extent[0] ? L.x(q, a + 1, b, c) * y(q, a + 1, b, c) : 0.0) +
               (j + 1 < extent[1] ? L.y(q, a, b + 1, c) * y(q, a, b + 1, c) : 0.0) +
               (k + 1 < extent[2] ? L.z(q, a, b, c + 1) * y(q, a, b, c + 1) : 0.0);
    }
};

// Fills in 1 / E. The value is the largest ratio of a diagonal entry to its pivot, D_i / E_i; infinite if a
// pivot is not positive.
struct FactorIncompletely {
    IncompleteBlocks M;

    constexpr double operator()(int n, int, int, int) const {
        const Window w = M.windows[n];
        const int q = w.block;
        double worst = 0;
        for (int k = 0; k < M.extent[2]; ++k)
            for (int j = 0; j < M.extent[1]; ++j)
                for (int i = 0; i < M.extent[0]; ++i) {
                    const int a = w.at[0] + i, b = w.at[1] + j, c = w.at[2] + k;
                    const double x = i > 0 ? M.L.x(q, a, b, c) : 0.0;
                    const double y = j > 0 ? M.L.y(q, a, b, c) : 0.0;
                    const double z = k > 0 ? M.L.z(q, a, b, c) : 0.0;
                    const double D = M.L.diagonal(q, a, b, c);
                    const double E = D - ((i > 0 ? x * x * M.inverse(q, a - 1, b, c) : 0.0) +
                                          (j > 0 ? y * y * M.inverse(q, a, b - 1, c) : 0.0) +
                                          (k > 0 ? z * z * M.inverse(q, a, b, c - 1) : 0.0));
                    M.inverse(q, a, b, c) = 1 / E;
                    const double ratio = E > 0 ? D / E : HUGE_VAL;
                    worst = worst > ratio ? worst : ratio;
                }
        return worst;
    }
};

// z = M^-1 r
struct SolveIncompletely {
    IncompleteBlocks M;
    View z, r;

    constexpr void operator()(int n, int, int, int) const {
        const Window w = M.windows[n];
        const int q = w.block;
        for (int k = 0; k < M.extent[2]; ++k)
            for (int j = 0; j < M.extent[1]; ++j)
                for (int i = 0; i < M.extent[0]; ++i) {
                    const int a = w.at[0] + i, b = w.at[1] + j, c = w.at[2] + k;
                    z(q, a, b, c) = (r(q, a, b, c) + M.before(z, w, i, j, k)) * M.inverse(q, a, b, c);
                }
        for (int k = M.extent[2] - 1; k >= 0; --k)
            for (int j = M.extent[1] - 1; j >= 0; --j)
                for (int i = M.extent[0] - 1; i >= 0; --i) {
                    const int a = w.at[0] + i, b = w.at[1] + j, c = w.at[2] + k;
                    z(q, a, b, c) += M.behind(z, w, i, j, k) * M.inverse(q, a, b, c);
                }
    }
};

}  // namespace keel
