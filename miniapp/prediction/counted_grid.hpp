#pragma once

// The grids of a run as one of its ranks, which may be virtual, has them: by the same code as in the run, on
// a backend and messages that count. Memory, messages, flops and bytes of a solve are those of the run.

#include <memory>
#include <vector>

#include "comm/reductions/tape.hpp"
#include "kernels/backends/counting/counting.hpp"
#include "miniapp/setup/grid_setup.hpp"
#include "solvers/multigrid/hierarchy.hpp"

namespace keel {

class CountedGrid {
  public:
    // The grids of the rank that `grids` names, with the schemes by level (none: the deck's scheme). Blocks
    // of boxes are dealt out to so many threads.
    CountedGrid(const GridSetup& grids, const Topology& topology, const std::vector<LevelSchemes>& schemes,
                int threads = 1);

    Hierarchy& hierarchy() { return *hierarchy_; }
    Ledger& ledger() { return ledger_; }
    const CountedMemory& memory() const { return memory_; }
    // All memory that the rank of a run has taken: counted but for what it and MPI keep of messages.
    double bytes() const;

  private:
    CountedMemory memory_;
    KeptMessages messages_;
    std::unique_ptr<Backend> backend_;
    Ledger ledger_;
    std::unique_ptr<Hierarchy> hierarchy_;
};

// All that a rank's solve knows by other ranks: the totals of its levels' reductions, and the bounds of their
// operators' eigenvalues. It must outlive the solvers on both hierarchies.
class SolveTape {
  public:
    // From now on, until replayed, records the totals of all levels, which this rank has. Solvers are made
    // behind it.
    void record(Hierarchy& hierarchy);
    // The totals of this hierarchy, of the same levels, are those that were recorded. Likewise.
    void replay(Hierarchy& hierarchy);
    bool at_end() const;

  private:
    struct OfLevel {
        std::unique_ptr<Tape> totals;
        double gershgorin_bound = 0, jacobi_bound = 0;
    };

    std::vector<OfLevel> levels_;  // a consolidated bottom level behind all others
};

}  // namespace keel
