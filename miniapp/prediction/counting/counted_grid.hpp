#pragma once

// The grids of a run as one of its ranks, which may be virtual, has them: by the same code as in the run, on
// a backend and messages that count. Memory, messages, flops and bytes of a solve are those of the run.

#include <memory>
#include <vector>

#include "comm/reductions/tape.hpp"
#include "kernels/backends/counting/counting.hpp"
#include "miniapp/prediction/counting/trace.hpp"
#include "miniapp/setup/grid_setup.hpp"
#include "solvers/multigrid/hierarchy.hpp"

namespace keel {

class CountedGrid {
  public:
    // The grids of the rank that `grids` names, with the schemes by level (none: the deck's scheme). Blocks
    // of boxes are dealt out to `threads` threads.
    CountedGrid(const GridSetup& grids, const Topology& topology, const std::vector<LevelSchemes>& schemes,
                int threads = 1)
        : CountedGrid(grids, topology, schemes, make_counting_backend(memory_, threads)) {}
    // The same for launches, waits and copies of a GPU's host, whose memory is not counted.
    static CountedGrid on_gpu(const GridSetup& grids, const Topology& topology,
                              const std::vector<LevelSchemes>& schemes) {
        return {grids, topology, schemes, make_counting_gpu_backend(*grids.gpu)};
    }

    Hierarchy& hierarchy() { return *hierarchy_; }
    Ledger& ledger() { return ledger_; }
    const CountedMemory& memory() const { return memory_; }
    // All memory that the rank of a run has taken: counted but for buffers of messages, its own and MPI's.
    double bytes() const;

  private:
    CountedGrid(const GridSetup& grids, const Topology& topology, const std::vector<LevelSchemes>& schemes,
                std::unique_ptr<Backend> backend);

    CountedMemory memory_;
    KeptMessages messages_;
    std::unique_ptr<Backend> backend_;
    Ledger ledger_;
    std::unique_ptr<Hierarchy> hierarchy_;
};

// All that a rank's solve knows by other ranks: the totals of its levels' reductions, on the bottom visit by
// visit, and the bounds of their operators' eigenvalues. It must outlive the solvers on both hierarchies, and
// copies are tapes of their own.
class SolveTape {
  public:
    // Totals of one on `levels` levels: no solve converges, and none breaks down.
    static SolveTape of_ones(std::size_t levels);

    // From now on records the totals of all levels, which this rank has. Solvers are made behind it.
    void record(Hierarchy& hierarchy);
    void record_anew();
    // The totals of this hierarchy are those that were recorded: on the finest level and, counted from the
    // bottom, on all others. It may have further levels between these, which sum nothing, and further visits.
    // The same; returns the hierarchy.
    Hierarchy& replay(Hierarchy& hierarchy);
    void rewind();
    // The bottom's totals are those of another solve.
    void take_bottom(const SolveTape& other) { levels_.back() = other.levels_.back(); }
    bool at_end() const;

  private:
    struct OfLevel {
        Tape totals = {};
        double gershgorin_bound = 0, jacobi_bound = 0;
    };

    std::vector<OfLevel> levels_;
};

// The grids as the busiest rank has them: of the ranks with all levels one with most boxes, the finest level
// first, and of those with fewest boundaries. Solves on them are those that were recorded on other boxes.
class ReplayedGrid {
  public:
    ReplayedGrid(const GridSetup& grids, const Topology& topology, const std::vector<LevelSchemes>& schemes,
                 const SolveTape& tape);

    const GridSetup& grids() const { return grids_; }
    Hierarchy& hierarchy() { return counted_.hierarchy(); }
    void rewind() { tape_.rewind(); }  // before a further solve
    // The trace since the last call, or since the grid was made.
    Slice take();

  private:
    GridSetup grids_;
    SolveTape tape_;
    CountedGrid counted_;
    Recorder recorder_;
};

}  // namespace keel
