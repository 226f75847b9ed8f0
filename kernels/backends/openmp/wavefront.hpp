#pragma once

// Stages in one pass over memory, half sweeps or powers of the operator: while the first is at plane k, the second is at plane
// k - 1, the third at k - 2. A plane comes from memory once, and all but the first find it in the cache. In two dimensions rows
// do as planes do here.

#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <type_traits>

#include "kernels/backends/rows.hpp"

namespace keel {

// How stages follow each other over the boxes of a rank. Each takes a ghost layer less than the one before, the last none, and
// its loops count from the corner of its layers: cell (0,0,0) of one is (1,1,1) of the one before. A stage has its cells, and
// a body of one cell of them or of a row.
template <class Stage>
class Wavefront {
  public:
    // The planes that the stages of a step touch hold so many bytes a row.
    Wavefront(std::span<const Stage> stages, std::ptrdiff_t bytes_of_rows, int dimensions)
        : stages_(stages),
          bytes_of_rows_(bytes_of_rows),
          count_(static_cast<int>(stages.size())),
          behind_(dimensions == 2 ? 0 : 2) {}

    void run() const {
        const Cells& cells = stages_.front().cells;
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
    // One thread, in tiles of rows whose planes fit its cache. A tile leans by a row from stage to stage.
    void pass_over(int q) const {
        const Cells& widest = stages_.front().cells;
        const int rows = rows_of_tile();
        for (int j = 0; j < widest.extent[1]; j += rows)
            for (int k = 0; k < widest.extent[2]; ++k)
                for (int n = 0; n < count_; ++n)
                    take_rows(n, q, j - 2 * n, j - 2 * n + rows, k - behind_ * n);
    }

    // All threads of a team, each on its rows. A plane further apart than in one thread, the stages of a step touch planes
    // that none of the others writes. Of one plane they take a stage after the other.
    void pass_together(int q) const {
        const Cells& widest = stages_.front().cells;
        for (int n = 0; behind_ == 0 && n < count_; ++n) {
#pragma omp for schedule(static)
            for (int j = 0; j < widest.extent[1]; ++j) take_rows(n, q, j, j + 1, 0);
        }
        if (behind_ == 0) return;
        for (int k = 0; k < widest.extent[2] + count_ - 1; ++k) {
#pragma omp for collapse(2) schedule(static)
            for (int j = 0; j < widest.extent[1]; ++j)
                for (int n = 0; n < count_; ++n) take_rows(n, q, j - n, j - n + 1, k - 3 * n);
        }
    }

    // Rows from_row <= j < to_row of plane k, as far as there are any.
    void take_rows(int n, int q, int from_row, int to_row, int k) const {
        const Stage& stage = stages_[static_cast<std::size_t>(n)];
        const Cells& cells = stage.cells;
        if (k < 0 || k >= cells.extent[2]) return;
        const auto row = row_of(stage);
        for (int j = std::max(0, from_row); j < std::min(cells.extent[1], to_row); ++j)
            row(0, cells.extent[0], q, j, k);
    }
    static auto row_of(const Stage& stage) {
        using Body = std::decay_t<decltype(stage.body)>;
        if constexpr (std::is_invocable_v<const Body&, int, int, int, int, int>)
            return stage.body;
        else
            return Row<Body>{stage.body, stage.cells};
    }

    int rows_of_tile() const {
        const long reported = sysconf(_SC_LEVEL2_CACHE_SIZE);
        const std::ptrdiff_t cache = reported > 0 ? reported : 512 * 1024;
        return std::max(8, static_cast<int>(cache / bytes_of_rows_));
    }

    std::span<const Stage> stages_;
    std::ptrdiff_t bytes_of_rows_;
    int count_;
    int behind_;  // planes that a stage is behind the one before, counted from its own corner
};

}  // namespace keel
