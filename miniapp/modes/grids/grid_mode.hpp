#pragma once

// The common part of the modes of grids: rules on decks, memory, plans of messages, dry runs, and a hierarchy
// that is built before anything is measured.

#include <memory>
#include <string>
#include <vector>

#include "kernels/timing/ledger.hpp"
#include "miniapp/modes/mode.hpp"
#include "miniapp/prediction/counting/grid_memory.hpp"
#include "miniapp/prediction/seconds/prediction.hpp"
#include "miniapp/schemes/scheme_choice.hpp"
#include "miniapp/schemes/scheme_table.hpp"
#include "miniapp/setup/grid_setup.hpp"
#include "miniapp/setup/problem/problem.hpp"

namespace keel {

class GridMode;

// The grids of a mode, its deck resolved. All that the mode does on them is in its class.
class PreparedGrids : public PreparedMode {
  public:
    // The mode must outlive this object.
    PreparedGrids(const GridMode& mode, const Resolved& resolved, const GridSetup& grids,
                  const ModeOptions& options)
        : mode_(mode), resolved_(resolved), grids_(grids), options_(options) {}

    const Resolved& resolved() const override { return resolved_; }
    std::string exceeds(const SharedMemory& memory) const override;
    std::string exceeds_planning(const SharedMemory& memory) const override;
    DryRun dry_run(const Communicator& comm, const SharedMemory& memory, Progress& progress) const override;
    void run(const RunContext& context, Findings& findings) const override;

    // --- For the mode
    const GridSetup& grids() const { return grids_; }
    // The values of keys that modes declare themselves.
    template <class Options>
    Options options() const {
        return options_.of<Options>();
    }
    // The memory of this rank, or of a virtual one in its place.
    GridMemory memory(const std::vector<LevelSchemes>& schemes, int threads = 1) const;
    MakeSolvers make_solvers() const;
    // Fills in what a header says of grids and measures the triad; returns the finest level. Collective.
    Layout describe(const RunContext& context, RunFacts& facts) const;

  private:
    const GridMode& mode_;
    Resolved resolved_;
    GridSetup grids_;
    ModeOptions options_;
};

// A mode that uses grids, and its actions once its deck is resolved.
class GridMode : public Mode {
  public:
    std::vector<NamedSolver> solvers(const Deck& deck) const override { return solver_of_deck(deck); }
    void check(Rules& rules, int ranks) const override;
    // The values of files, each in the boxes of one rank.
    void check_on(Rules& rules, const Communicator& comm) const override;
    std::unique_ptr<PreparedMode> prepare(const Deck& deck, const Resolved& resolved) const override;

    // As PreparedMode has it.
    virtual void run(const PreparedGrids& prepared, const RunContext& context, Findings& findings) const = 0;
    // Seconds of its solves on a machine that computes. The schemes of all levels are planned. Collective;
    // complete on rank 0.
    virtual Prediction predict(const PreparedGrids&, const std::vector<SchemeTable>&, const Communicator&,
                               const SharedMemory&, Progress&) const {
        return {};
    }
    // Makes on a hierarchy all that the mode makes there, for these grids: its memory is counted.
    virtual void make_solvers(const PreparedGrids&, Hierarchy& hierarchy, const GridSetup& grids) const {
        make_all_solvers(hierarchy, grids);
    }
    // Adds what else its dry run says. Collective; complete on rank 0.
    virtual void add_to_dry_run(const PreparedGrids&, const Communicator&, DryRun&) const {}

  protected:
    // The sections that all have; "multigrid." is left to each.
    static std::vector<KeyUse> keys_of_grids();
    static constexpr const char* why_no_helpers =
        "on grids every rank has boxes, and none is free to help; choose run.mode = \"spmv\", or split as "
        "comm.scheme";

    virtual GridUse use(const Deck& deck) const = 0;
    // Sets what the mode decides in place of the deck.
    virtual void decide(Resolved&, GridSetup&) const {}
};

// The problem's hierarchy, built before a mode measures, with the right-hand side in f of the finest level.
struct Setting {
    const PreparedGrids& prepared;
    const Resolved& resolved;
    const GridSetup& grids;
    const RunContext& context;
    Problem& problem;  // at its first step
    Hierarchy& hierarchy;
    Ledger& ledger;
    const std::vector<SchemeTable>& schemes;  // none where there was nothing to compare
    double setup_start;                       // on this rank's clock

    double setup_seconds() const { return context.comm.max(now() - setup_start); }
};

// A mode that measures on the problem's hierarchy.
class HierarchyMode : public GridMode {
  public:
    void run(const PreparedGrids& prepared, const RunContext& context, Findings& findings) const override;
    // Predicts multigrid, or Krylov methods on the finest grid, unless overridden.
    Prediction predict(const PreparedGrids& prepared, const std::vector<SchemeTable>& tables,
                       const Communicator& comm, const SharedMemory& memory,
                       Progress& progress) const override;

  protected:
    // Makes its solvers, notes the set-up time, solves warm-ups and repeats, reports, and fills in checks,
    // figure of merit and seconds. Collective.
    virtual void measure(const Setting& setting, Findings& findings) const = 0;
};

// Cells a second; solves with cycles in single precision have a figure of their own.
FigureOfMerit cells_per_second(const RunFacts& facts, double seconds, const SolveWork& work,
                               bool mixed = false);

}  // namespace keel
