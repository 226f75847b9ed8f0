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
    Cells coarse;

    void operator()(int q, int from, int to, int k) const {
        const int plane = D == 2 ? k : k >> 1;
        if (k < 0 || plane >= coarse.extent[2] || (D == 3 && (k & 1) == 0)) return;
        for (int j = std::max(0, from) >> 1; j < std::min(coarse.extent[1], to >> 1); ++j)
            take_row(row, coarse, q, j, plane);
    }
};

// The norm of the residual, as a maximum of bits (rows.hpp). Any thread may raise it.
template <class Residual>
struct LargestResidual {
    Residual residual;
    Cells cells;  // which count
    std::atomic<std::int64_t>* largest;

    void operator()(int q, int from, int to, int k) const {
        if (k < 0 || k >= cells.extent[2]) return;
        std::int64_t most = 0;
        const auto look = [&](int low, int high, int box, int j, int plane) {
            const int first = cells.first(low, box, j, plane);
            most = std::max(most, most_of_every_other(residual, first, high, box, j, plane));
            if (cells.colour == Cells::every)
                most = std::max(most, most_of_every_other(residual, low + 1, high, box, j, plane));
        };
        for (int j = std::max(0, from); j < std::min(cells.extent[1], to); ++j)
            take_row(look, cells, q, j, k);
        std::int64_t seen = largest->load(std::memory_order_relaxed);
        while (seen < most && !largest->compare_exchange_weak(seen, most, std::memory_order_relaxed)) {
        }
    }
};

}  // namespace keel
