#include "kernels/backends/openmp/wavefront.hpp"

#include <omp.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

namespace keel {
namespace {

class Wavefront {
  public:
    Wavefront(const Stages& stages, int count, const EndOfPass* end, const Cells& first,
              std::ptrdiff_t bytes_of_rows, int dimensions)
        : stages_(stages),
          end_(end),
          count_(count),
          boxes_(first.boxes),
          rows_(first.extent[1]),
          planes_(first.extent[2]),
          bytes_of_rows_(bytes_of_rows),
          behind_(dimensions == 2 ? 0 : 2),
          serial_(omp_get_max_threads() == 1 || first.count() < serial_below) {}

    void run() const {
        const int threads = omp_get_max_threads();
        const bool evenly = boxes_ % threads == 0 || boxes_ >= 4 * threads;
        if (serial_) {  // no region is entered (verbs.hpp)
            for (int q = 0; q < boxes_; ++q) pass_over(q);
        } else if (evenly) {
#pragma omp parallel for schedule(static)
            for (int q = 0; q < boxes_; ++q) pass_over(q);
        } else if (behind_ == 0) {
#pragma omp parallel
            for (int q = 0; q < boxes_; ++q) take_stages_together(q);
        } else {
            take_tiles_together(threads);
        }
    }

  private:
    // In tiles of rows whose planes fit the cache of one thread. A tile leans by a row from stage to stage.
    void pass_over(int q) const {
        const int rows = rows_of_tile();
        for (int j = 0; j < rows_; j += rows)
            for (int k = 0; k < planes_; ++k) take_step(q, j, j + rows, k);
    }
    // All stages of a step of a tile, which is a plane, some rows at a time: while the processor computes
    // their later stages it already asks for the next rows of the first stage, which alone waits for memory.
    void take_step(int q, int from_row, int to_row, int k) const {
        constexpr int some = 4;
        for (int from = from_row; from < to_row; from += some) {
            const int to = std::min(from + some, to_row);
            for (int n = 0; n < count_; ++n)
                stages_.take_rows(n, q, from - 2 * n, to - 2 * n, k - behind_ * n);
            if (end_) end_->take_rows(q, from - 2 * count_, to - 2 * count_, k - behind_ * count_);
        }
    }

    // The tiles of all boxes, dealt out to a team. A tile leans on the one before it, and takes a step after
    // that one has taken it: by then the values that it reads are there, and those that it overwrites were
    // read.
    void take_tiles_together(int threads) const {
        const int wanted = (rows_ + rows_of_tile() - 1) / rows_of_tile();
        const int shared_out = (boxes_ * wanted + threads - 1) / threads * threads;
        const int rows = (rows_ * boxes_ + shared_out - 1) / shared_out;
        const int tiles = (rows_ + rows - 1) / rows;  // tiles of a box
        std::vector<Steps> taken(static_cast<std::size_t>(boxes_ * tiles));
#pragma omp parallel for schedule(static, 1)
        for (int tile = 0; tile < boxes_ * tiles; ++tile) {
            Steps& mine = taken[static_cast<std::size_t>(tile)];
            const Steps* const before = tile % tiles == 0 ? nullptr : &mine - 1;
            const int j = tile % tiles * rows;
            for (int k = 0; k < planes_; ++k) {
                if (before != nullptr) before->wait_for(k + 1);
                take_step(tile / tiles, j, j + rows, k);
                mine.count.store(k + 1, std::memory_order_release);
            }
        }
    }
    // Steps that a tile has taken, on a cache line of their own.
    struct alignas(64) Steps {
        std::atomic<int> count = 0;

        void wait_for(int some) const {
            constexpr int patience = 1000;  // looks, after which the other thread may need this core
            for (int looks = 0; count.load(std::memory_order_acquire) < some; ++looks)
                if (looks > patience) std::this_thread::yield();
        }
    };

    // In two dimensions there is one step: all threads of a team take the rows of one stage, and then of the
    // next.
    void take_stages_together(int q) const {
        for (int n = 0; n < count_; ++n) {
#pragma omp for schedule(static)
            for (int j = 0; j < rows_; ++j) stages_.take_rows(n, q, j, j + 1, 0);
        }
        if (!end_) return;
#pragma omp for schedule(static)
        for (int j = 0; j < rows_; ++j) end_->take_rows(q, j, j + 1, 0);
    }

    // Half of the cache: the data of the next step streams through the other half.
    int rows_of_tile() const {
        const long reported = sysconf(_SC_LEVEL2_CACHE_SIZE);
        const std::ptrdiff_t cache = reported > 0 ? reported : 512 * 1024;
        return std::max(8, static_cast<int>(cache / 2 / bytes_of_rows_));
    }

    const Stages& stages_;
    const EndOfPass* end_;
    int count_;
    int boxes_;
    int rows_;    // rows of a box
    int planes_;  // planes of a box
    std::ptrdiff_t bytes_of_rows_;
    int behind_;  // planes that a stage is behind the one before, counted from its own corner
    bool serial_;
};

}  // namespace

void run_wavefront(const Stages& stages, int count, const EndOfPass* end, const Cells& first,
                   std::ptrdiff_t bytes_of_rows, int dimensions) {
    Wavefront(stages, count, end, first, bytes_of_rows, dimensions).run();
}

}  // namespace keel
