#pragma once

// What closes a wavefront of half sweeps: the end of a leg of a multigrid cycle, of the rows of a tile that are relaxed for good.

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "kernels/backends/rows.hpp"
#include "kernels/backends/transfer_rows.hpp"

namespace keel {

// The restricted residual. A coarse row is made when the last of the fine ones is there, by the sums that restrict it alone.
template <int D, class Real>
struct RestrictedResidual {
    RestrictRow<D, Real> row;
    Index extent;  // of the coarse level

    void operator()(int q, int from, int to, int k) const {
        const int plane = D == 2 ? k : k >> 1;
        if (k < 0 || plane >= extent[2] || (D == 3 && (k & 1) == 0)) return;
        for (int j = std::max(0, from) >> 1; j < std::min(extent[1], to >> 1); ++j)
            row(0, extent[0], q, j, plane);
    }
};

// The norm of the residual, as a maximum of bits (rows.hpp). Any thread may raise it.
template <class Residual>
struct LargestResidual {
    Residual residual;
    Cells cells;  // which count
    std::atomic<std::int64_t>* largest;

    void operator()(int q, int from, int to, int k) const {
        const Index& extent = cells.extent;
        if (k < 0 || k >= extent[2]) return;
        std::int64_t most = 0;
        for (int j = std::max(0, from); j < std::min(extent[1], to); ++j)
            most = std::max(most,
                            cells.colour == Cells::every
                                ? most_in_row(residual, extent[0], q, j, k)
                                : most_of_every_other(residual, cells.first(0, q, j, k), extent[0], q, j, k));
        std::int64_t seen = largest->load(std::memory_order_relaxed);
        while (seen < most && !largest->compare_exchange_weak(seen, most, std::memory_order_relaxed)) {
        }
    }
};

}  // namespace keel
