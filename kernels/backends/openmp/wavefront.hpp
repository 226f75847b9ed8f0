#pragma once

// Stages in one pass over memory, half sweeps or powers of the operator: while the first is at plane k, the
// second is at plane k - 1, the third at k - 2. A plane comes from memory once, and all but the first stage
// find it in the cache. In two dimensions rows take the place of planes.

#include <algorithm>
#include <cstddef>
#include <span>

#include "kernels/backends/rows/rows.hpp"

namespace keel {

// The stages of a pass. A stage counts cells from the corner of its ghost layers, one layer less than the
// stage before: cell (0,0,0) of a stage is (1,1,1) of the one before. The last stage has no ghost layers, or
// one if the pass ends with a residual.
class Stages {
  public:
    // Rows from <= j < to of plane k of box q, as far as there are any.
    virtual void take_rows(int stage, int q, int from, int to, int k) const = 0;

  protected:
    ~Stages() = default;
};

// The end of a pass follows the last stage as another stage would.
class EndOfPass {
  public:
    virtual void take_rows(int q, int from, int to, int k) const = 0;

  protected:
    ~EndOfPass() = default;
};

// Runs `count` stages over the boxes of a rank, and the end unless it is null; `first` are the cells of the
// first stage. The planes that the stages of a step touch hold bytes_of_rows a row.
void run_wavefront(const Stages& stages, int count, const EndOfPass* end, const Cells& first,
                   std::ptrdiff_t bytes_of_rows, int dimensions);

// A stage has its cells, and a body of one row of them.
template <class Stage>
void run_in_one_pass(std::span<const Stage> stages, const EndOfPass* end, std::ptrdiff_t bytes_of_rows,
                     int dimensions) {
    class AllStages final : public Stages {
      public:
        explicit AllStages(std::span<const Stage> stages) : stages_(stages) {}

        void take_rows(int stage, int q, int from, int to, int k) const override {
            const auto& [cells, body] = stages_[static_cast<std::size_t>(stage)];
            if (k < 0 || k >= cells.extent[2]) return;
            for (int j = std::max(0, from); j < std::min(cells.extent[1], to); ++j)
                take_row(body, cells, q, j, k);
        }

      private:
        std::span<const Stage> stages_;
    };
    run_wavefront(AllStages(stages), static_cast<int>(stages.size()), end, stages.front().cells,
                  bytes_of_rows, dimensions);
}

}  // namespace keel
