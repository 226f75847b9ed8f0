#pragma once

// A mode is a question that Keel answers; run.mode names it. To add one: a file or folder here, and its
// function in both lists of modes.cpp.

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/ranks/communicator.hpp"
#include "comm/ranks/interrupts.hpp"
#include "kernels/backends/registry.hpp"
#include "kernels/timing/regions.hpp"
#include "miniapp/deck/keys.hpp"
#include "miniapp/deck/rules.hpp"
#include "miniapp/report/findings.hpp"
#include "miniapp/setup/machine/memory.hpp"
#include "miniapp/setup/resolved.hpp"
#include "miniapp/setup/solvers.hpp"

namespace keel {

// Told on rank 0 only what goes on; of something that is done `done` times of `all`, if that is known.
class Progress {
  public:
    virtual ~Progress() = default;
    virtual void say(const std::string& what) = 0;
    virtual void say(const std::string& what, int done, int all) = 0;
};

// Whether a run is to end before all is done: a signal asks for it, or its time is up. One at a time in a
// process.
class Ending {
  public:
    // `deadline`: on the clock of rank 0, as now() tells it; those of other ranks play no part.
    explicit Ending(double deadline = std::numeric_limits<double>::infinity()) : deadline_(deadline) {}

    // To be asked between pieces of work. The next piece is taken to last as long as the longest so far, and
    // checks and tables behind it as long again: nothing predicts them better. The same on all ranks.
    // Collective.
    Interruption asked(const Communicator& comm);

  private:
    Interrupts interrupts_;
    double deadline_;
    double last_asked_ = 0;
    double longest_ = 0;
};

// The ranks and the backend that a mode runs on, and its listeners.
struct RunContext {
    const Communicator& comm;
    const Backend& backend;
    Progress& progress;
    Reporter& report;
    Ending& ending;
    Regions* regions = nullptr;  // to tell of every operation; may be null
};

struct DryRun {
    std::string text;
    std::string plan;          // JSON: what the mode adds to the record "plan"
    std::string records;       // what every scheme makes of the exchanges, what is predicted
    std::string refusal = {};  // not empty: why there is nothing else, as wrong input
};

// A mode whose deck is resolved. It never sees the deck.
class PreparedMode {
  public:
    virtual ~PreparedMode() = default;
    virtual const Resolved& resolved() const = 0;
    // Why it cannot fit into the memory that ranks share; empty if it may. Purely local.
    virtual std::string exceeds(const SharedMemory& memory) const = 0;
    // Why a rank cannot plan the messages of all ranks, virtual ones too, in its share of the memory; empty
    // if it may. Purely local.
    virtual std::string exceeds_planning(const SharedMemory&) const { return ""; }
    // For reading: all that `rank` sends and receives in exchanges; nothing where it has none that are
    // planned. Purely local.
    virtual std::optional<std::string> plan_text(int rank, const SharedMemory& memory) const = 0;
    // Sizes, messages and memory of a run. Allocates nothing of the problem's size; to plan it takes its
    // share of this memory at most. Collective; complete on rank 0.
    virtual DryRun dry_run(const Communicator& comm, const SharedMemory& memory,
                           Progress& progress) const = 0;
    // The facts of the machine are filled in. Reports what it finds as it finds it, all but the closing
    // lines; ends early where it is asked to. Collective; complete on rank 0.
    virtual void run(const RunContext& context, Findings& findings) const = 0;
};

class Mode {
  public:
    virtual ~Mode() = default;
    virtual std::string name() const = 0;     // a word of run.mode
    virtual std::string meaning() const = 0;  // a noun phrase for --keys

    // --- Its deck
    virtual void add_keys(Table&) const {}  // keys that no other mode knows
    virtual KeyUses keys() const = 0;       // that play a part
    // The solvers that it runs by [bottom]; none where it solves nothing.
    virtual std::vector<NamedSolver> solvers(const Deck&) const { return {}; }
    // Rules among its keys on so many ranks, which may be virtual.
    virtual void check(Rules& rules, int ranks) const = 0;
    // The rules that only the rank itself can judge of a deck that is valid otherwise. Collective.
    virtual void check_on(Rules&, const Communicator&) const {}
    // Rules that hold for a run, not for a dry run.
    virtual void check_run(Rules&, int /*ranks*/) const {}

    virtual std::unique_ptr<PreparedMode> prepare(const Deck& deck, const Resolved& resolved) const = 0;
};

// All of them; the first is the default.
const std::vector<std::unique_ptr<Mode>>& modes();
// The one that run.mode names.
const Mode& mode_of(const Deck& deck);

// Every key of every mode.
Table make_table();

}  // namespace keel
