#pragma once

// Stages in one pass over memory, half sweeps or powers of the operator: while the first is at plane k, the second is at plane
// k - 1, the third at k - 2. A plane comes from memory once, and all but the first find it in the cache. In two dimensions rows
// do as planes do here.

#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <span>
#include <thread>
#include <type_traits>
#include <vector>

#include "kernels/backends/rows.hpp"

namespace keel {

// What closes a pass follows the last stage as another one would: rows from <= j < to of plane k of box q, as far as there are any.
struct NothingCloses {
    void operator()(int /*q*/, int /*from*/, int /*to*/, int /*k*/) const {}
};

// How stages follow each other over the boxes of a rank. Each takes a ghost layer less than the one before, the last none, or one
// if something closes the pass, and its loops count from the corner of its layers: cell (0,0,0) of one is (1,1,1) of the one
// before. A stage has its cells, and a body of one cell of them or of a row.
template <class Stage, class Closing = NothingCloses>
class Wavefront {
  public:
    // The planes that the stages of a step touch hold so many bytes a row.
    Wavefront(std::span<const Stage> stages, std::ptrdiff_t bytes_of_rows, int dimensions,
              const Closing& closing = {})
        : stages_(stages),
          closing_(closing),
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
        } else if (behind_ == 0) {
#pragma omp parallel
            for (int q = 0; q < cells.boxes; ++q) take_stages_together(q);
        } else {
            take_tiles_together(threads);
        }
    }

  private:
    // In tiles of rows whose planes fit the cache of one thread. A tile leans by a row from stage to stage.
    void pass_over(int q) const {
        const int rows = rows_of_tile();
        for (int j = 0; j < rows_of_box(); j += rows)
            for (int k = 0; k < planes_of_box(); ++k) take_step(q, j, j + rows, k);
    }
    // All stages of a tile's step, which is to say plane. Some rows at a time: while the processor computes the later stages of
    // these it already asks for the next ones of the first stage, which alone waits for memory.
    void take_step(int q, int from_row, int to_row, int k) const {
        constexpr int some = 4;
        for (int from = from_row; from < to_row; from += some) {
            const int to = std::min(from + some, to_row);
            for (int n = 0; n < count_; ++n) take_rows(n, q, from - 2 * n, to - 2 * n, k - behind_ * n);
            closing_(q, from - 2 * count_, to - 2 * count_, k - behind_ * count_);
        }
    }

    // The tiles of all boxes, dealt out to a team. A tile leans on the one before it, and so takes a step after that one has:
    // then what it reads is there, and what it overwrites was read.
    void take_tiles_together(int threads) const {
        const int boxes = stages_.front().cells.boxes;
        const int wanted = (rows_of_box() + rows_of_tile() - 1) / rows_of_tile();
        const int shared_out = (boxes * wanted + threads - 1) / threads * threads;
        const int rows = (rows_of_box() * boxes + shared_out - 1) / shared_out;
        const int tiles = (rows_of_box() + rows - 1) / rows;  // of a box
        std::vector<Steps> taken(static_cast<std::size_t>(boxes * tiles));
#pragma omp parallel for schedule(static, 1)
        for (int tile = 0; tile < boxes * tiles; ++tile) {
            Steps& mine = taken[static_cast<std::size_t>(tile)];
            const Steps* const before = tile % tiles == 0 ? nullptr : &mine - 1;
            const int j = tile % tiles * rows;
            for (int k = 0; k < planes_of_box(); ++k) {
                if (before != nullptr) before->wait_for(k + 1);
                take_step(tile / tiles, j, j + rows, k);
                mine.count.store(k + 1, std::memory_order_release);
            }
        }
    }
    // Those that a tile has taken, on a cache line of their own.
    struct alignas(64) Steps {
        std::atomic<int> count = 0;

        void wait_for(int some) const {
            constexpr int patience = 1000;  // beyond which the other one may want this core
            for (int looks = 0; count.load(std::memory_order_acquire) < some; ++looks)
                if (looks > patience) std::this_thread::yield();
        }
    };

    // In two dimensions there is one step: all threads of a team take the rows of one stage, and then of the next.
    void take_stages_together(int q) const {
        for (int n = 0; n < count_; ++n) {
#pragma omp for schedule(static)
            for (int j = 0; j < rows_of_box(); ++j) take_rows(n, q, j, j + 1, 0);
        }
#pragma omp for schedule(static)
        for (int j = 0; j < rows_of_box(); ++j) closing_(q, j, j + 1, 0);
    }

    int rows_of_box() const {
        return stages_.front().cells.extent[1];
    }
    int planes_of_box() const {
        return stages_.front().cells.extent[2];
    }

    // Rows from_row <= j < to_row of plane k, as far as there are any.
    void take_rows(int n, int q, int from_row, int to_row, int k) const {
        const Stage& stage = stages_[static_cast<std::size_t>(n)];
        const Cells& cells = stage.cells;
        if (k < 0 || k >= cells.extent[2]) return;
        const auto row = row_of(stage);
        for (int j = std::max(0, from_row); j < std::min(cells.extent[1], to_row); ++j)
            take_row(row, cells, q, j, k);
    }
    static auto row_of(const Stage& stage) {
        using Body = std::decay_t<decltype(stage.body)>;
        if constexpr (std::is_invocable_v<const Body&, int, int, int, int, int>)
            return stage.body;
        else
            return Row<Body>{stage.body, stage.cells};
    }

    // Half of the cache: through the other half streams what the next step wants.
    int rows_of_tile() const {
        const long reported = sysconf(_SC_LEVEL2_CACHE_SIZE);
        const std::ptrdiff_t cache = reported > 0 ? reported : 512 * 1024;
        return std::max(8, static_cast<int>(cache / 2 / bytes_of_rows_));
    }

    std::span<const Stage> stages_;
    Closing closing_;
    std::ptrdiff_t bytes_of_rows_;
    int count_;
    int behind_;  // planes that a stage is behind the one before, counted from its own corner
};

}  // namespace keel
