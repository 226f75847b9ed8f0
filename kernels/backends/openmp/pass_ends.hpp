#pragma once

// Ends of a pass of half sweeps: the residual in rows that are relaxed for good, restricted or its norm.

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "kernels/backends/openmp/wavefront.hpp"
#include "kernels/backends/rows/rows.hpp"
#include "kernels/backends/rows/transfer_rows.hpp"

namespace keel {

// The restricted residual. A coarse row is made when the last of its fine rows is there, by the sums that
// restrict a row alone.
template <int D, class Real>
class RestrictedResidual final : public EndOfPass {
  public:
    RestrictedResidual(const RestrictRow<D, Real>& row, const Cells& coarse) : row_(row), coarse_(coarse) {}

    void take_rows(int q, int from, int to, int k) const override {
        const int plane = D == 2 ? k : k >> 1;
        if (k < 0 || plane >= coarse_.extent[2] || (D == 3 && (k & 1) == 0)) return;
        for (int j = std::max(0, from) >> 1; j < std::min(coarse_.extent[1], to >> 1); ++j)
            take_row(row_, coarse_, q, j, plane);
    }

  private:
    RestrictRow<D, Real> row_;
    Cells coarse_;
};

// The norm of the residual, as a maximum of bits (rows.hpp). Any thread may raise it.
template <int D, class Real>
class LargestResidual final : public EndOfPass {
  public:
    LargestResidual(const Residual<D, Real>& residual, const Cells& cells)
        : residual_(residual), cells_(cells) {}

    double norm() const { return magnitude(largest_); }

    void take_rows(int q, int from, int to, int k) const override {
        if (k < 0 || k >= cells_.extent[2]) return;
        std::int64_t most = 0;
        const auto look = [&](int low, int high, int box, int j, int plane) {
            const int first = cells_.first(low, box, j, plane);
            most = std::max(most, most_of_every_other(residual_, first, high, box, j, plane));
            if (cells_.colour == Cells::every)
                most = std::max(most, most_of_every_other(residual_, low + 1, high, box, j, plane));
        };
        for (int j = std::max(0, from); j < std::min(cells_.extent[1], to); ++j)
            take_row(look, cells_, q, j, k);
        std::int64_t seen = largest_.load(std::memory_order_relaxed);
        while (seen < most && !largest_.compare_exchange_weak(seen, most, std::memory_order_relaxed)) {
        }
    }

  private:
    Residual<D, Real> residual_;
    Cells cells_;  // cells that count
    mutable std::atomic<std::int64_t> largest_ = 0;
};

}  // namespace keel
