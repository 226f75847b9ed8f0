#pragma once

// Half sweeps in one pass over memory: while the first relaxes plane k, the second relaxes plane k - 1, the third k - 2.
// A plane comes from memory once, and all but the first find it in the cache. In two dimensions rows do as planes do here.

#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <type_traits>

#include "kernels/backends/rows.hpp"

namespace keel {

// How half sweeps follow each other over the boxes of a rank. Each relaxes a ghost layer less than the one before, the last
// none, and its loops count from the corner of its layers: cell (0,0,0) of one is (1,1,1) of the one before.
template <class HalfSweep>
class Wavefront {
  public:
    // A row of a field is so many bytes long.
    Wavefront(std::span<const HalfSweep> sweeps, std::ptrdiff_t row, int dimensions)
        : sweeps_(sweeps),
          row_(row),
          count_(static_cast<int>(sweeps.size())),
          behind_(dimensions == 2 ? 0 : 2) {}

    void run() const {
        const Cells& cells = sweeps_.front().cells;
        const int threads = omp_get_max_threads();
        const bool evenly = cells.boxes % threads == 0 || cells.boxes >= 4 * threads;
        if (threads == 1 || cells.count() < serial_below) {  // as in openmp.cpp, no region is entered
            for (int q = 0; q < cells.boxes; ++q) pass_over(q);
        } else if (evenly) {
#pragma omp parallel for schedule(static)
            for (int q = 0; q < cells.boxes; ++q) pass_over(q);
        } else {
#pragma omp parallel
            for (int q = 0; q < cells.boxes; ++q) pass_together(q);
        }
    }

  private:
    // One thread, in tiles of rows whose planes fit its cache. A tile leans by a row from half sweep to half sweep.
    void pass_over(int q) const {
        const Cells& widest = sweeps_.front().cells;
        const int rows = rows_of_tile();
        for (int j = 0; j < widest.extent[1]; j += rows)
            for (int k = 0; k < widest.extent[2]; ++k)
                for (int n = 0; n < count_; ++n)
                    relax_rows(n, q, j - 2 * n, j - 2 * n + rows, k - behind_ * n);
    }

    // All threads of a team, each on its rows. A plane further apart than in one thread, the half sweeps of a step touch
    // planes that none of the others writes. Of one plane they take a half sweep after the other.
    void pass_together(int q) const {
        const Cells& widest = sweeps_.front().cells;
        for (int n = 0; behind_ == 0 && n < count_; ++n) {
#pragma omp for schedule(static)
            for (int j = 0; j < widest.extent[1]; ++j) relax_rows(n, q, j, j + 1, 0);
        }
        if (behind_ == 0) return;
        for (int k = 0; k < widest.extent[2] + count_ - 1; ++k) {
#pragma omp for collapse(2) schedule(static)
            for (int j = 0; j < widest.extent[1]; ++j)
                for (int n = 0; n < count_; ++n) relax_rows(n, q, j - n, j - n + 1, k - 3 * n);
        }
    }

    // Rows from_row <= j < to_row of plane k, as far as there are any.
    void relax_rows(int n, int q, int from_row, int to_row, int k) const {
        const HalfSweep& sweep = sweeps_[static_cast<std::size_t>(n)];
        const Cells& cells = sweep.cells;
        if (k < 0 || k >= cells.extent[2]) return;
        const Row<std::decay_t<decltype(sweep.body)>> row{sweep.body, cells};
        for (int j = std::max(0, from_row); j < std::min(cells.extent[1], to_row); ++j)
            row(0, cells.extent[0], q, j, k);
    }

    // u, f, 1/D and three fields of faces, one plane more than half sweeps on either side.
    int rows_of_tile() const {
        constexpr std::ptrdiff_t fields = 6;
        const long reported = sysconf(_SC_LEVEL2_CACHE_SIZE);
        const std::ptrdiff_t cache = reported > 0 ? reported : 512 * 1024;
        return std::max(8, static_cast<int>(cache / (row_ * fields * (count_ + 2))));
    }

    std::span<const HalfSweep> sweeps_;
    std::ptrdiff_t row_;
    int count_;
    int behind_;  // planes that a half sweep is behind the one before
};

}  // namespace keel
