#pragma once

// The common part of the modes of grids: rules on decks, dry runs, and a hierarchy that is built before
// anything is measured.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/timing/ledger.hpp"
#include "miniapp/modes/mode.hpp"
#include "miniapp/prediction/prediction.hpp"
#include "miniapp/schemes/scheme_choice.hpp"
#include "miniapp/schemes/scheme_table.hpp"
#include "miniapp/setup/grid_setup.hpp"
#include "miniapp/setup/problem/problem.hpp"

namespace keel {

// A mode that solves something on grids by [bottom].
class GridMode : public Mode {
  public:
    std::vector<NamedSolver> solvers(const Deck& deck) const override { return solver_of_deck(deck); }
    void check(Rules& rules, int ranks) const override;
    std::unique_ptr<PreparedMode> prepare(const Deck& deck, const Resolved& resolved) const override;

  protected:
    // The sections that all have; "multigrid." is left to each.
    static std::vector<KeyUse> keys_of_grids();

    virtual GridUse use(const Deck& deck) const = 0;
    // One of the two: the first where the mode has options that it alone knows.
    virtual std::unique_ptr<PreparedMode> prepare(const Deck&, const Resolved& resolved,
                                                  const GridSetup& grids) const {
        return prepare(resolved, grids);
    }
    virtual std::unique_ptr<PreparedMode> prepare(const Resolved&, const GridSetup&) const { return nullptr; }
};

// The problem's hierarchy, built before a mode measures, with the right-hand side in f of the finest level.
struct Setting {
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

class PreparedGrids : public PreparedMode {
  public:
    PreparedGrids(const Resolved& resolved, const GridSetup& grids) : resolved_(resolved), grids_(grids) {}

    const Resolved& resolved() const override { return resolved_; }
    std::string exceeds(const SharedMemory& memory) const override;
    std::string exceeds_planning(const SharedMemory& memory) const override;
    std::optional<std::string> plan_text(int rank, const SharedMemory& memory) const override;
    DryRun dry_run(const Communicator& comm, const SharedMemory& memory, Progress& progress) const override;
    void run(const RunContext& context, Findings& findings) const override;

  protected:
    // Makes its solvers, notes the set-up time, solves warm-ups and repeats, reports, and fills in checks,
    // figure of merit and seconds. Collective.
    virtual void measure(const Setting& setting, Findings& findings) const = 0;

    // Seconds of the solves on a machine that computes, of multigrid unless overridden. The schemes of all
    // levels are planned. Collective; complete on rank 0.
    virtual Prediction predict(const std::vector<SchemeTable>& tables, const Communicator& comm,
                               const SharedMemory& memory, Progress& progress) const;

    // Fills in what a header says of grids and measures the triad; returns the finest level. Collective.
    Layout describe(const RunContext& context, RunFacts& facts) const;
    // The exchanges of every level under all schemes, planned; none where nothing is to be compared.
    // Collective.
    std::vector<SchemeTable> compare(const Layout& finest, const RunContext& context) const;
    // Times these, between rounds of which `asked` may end it. Collective.
    Tried try_schemes(const RunContext& context, std::vector<SchemeTable>& tables, const Rounds& rounds,
                      const std::function<Interruption()>& asked, Findings& findings) const;

    Resolved resolved_;
    GridSetup grids_;
};

// Cells a second; solves with cycles in single precision have a figure of their own.
FigureOfMerit cells_per_second(const RunFacts& facts, double seconds, const SolveWork& work,
                               bool mixed = false);

}  // namespace keel
