#pragma once

// A mode is a question that Keel answers; run.mode names it. To add one: a file or folder here, and its
// function in both lists of modes.cpp.

#include <memory>
#include <string>
#include <vector>

#include "comm/ranks/communicator.hpp"
#include "kernels/backends/registry.hpp"
#include "kernels/timing/regions.hpp"
#include "miniapp/deck/keys.hpp"
#include "miniapp/deck/rules.hpp"
#include "miniapp/report/findings.hpp"
#include "miniapp/setup/machine/memory.hpp"
#include "miniapp/setup/resolved.hpp"

namespace keel {

// Hears on rank 0 only of work that goes on; of something that is done `done` times of `all`, if that is
// known.
class Progress {
  public:
    virtual ~Progress() = default;
    virtual void say(const std::string& what) = 0;
    virtual void say(const std::string& what, int done, int all) = 0;
};

class Ending;  // repeat.hpp

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
    std::string text = {};
    std::string plan = {};     // JSON: what the mode adds to the record "plan"
    std::string records = {};  // what every scheme makes of the exchanges, what is predicted
    std::string refusal = {};  // not empty: why there is nothing else, as wrong input
};

// A mode whose deck is resolved. It never sees the deck.
class PreparedMode {
  public:
    virtual ~PreparedMode() = default;
    virtual const Resolved& resolved() const = 0;
    // Why it cannot fit into the memory that ranks share; empty if it may. Purely local.
    virtual std::string exceeds(const SharedMemory&) const { return ""; }
    // Why a rank cannot plan the messages of all ranks, virtual ones too, in its share of the memory; empty
    // if it may. Purely local.
    virtual std::string exceeds_planning(const SharedMemory&) const { return ""; }
    // A file of its own that a run creates before it computes, and writes when it ends; empty if there is
    // none.
    virtual std::string result_file() const { return ""; }
    // Sizes, messages and memory of a run. Allocates nothing of the problem's size; to plan it takes its
    // share of this memory at most. Collective; complete on rank 0.
    virtual DryRun dry_run(const Communicator& comm, const SharedMemory& memory,
                           Progress& progress) const = 0;
    // The facts of the machine are filled in. Reports each finding at once, all but the closing
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
    // Rules among its keys on `ranks` ranks, which may be virtual.
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

// --- Whether a deck makes sense, and what of it is used

// The complaints of all rules on these ranks, not those in deck.errors. Without what only follows from a
// key that was refused already. Of a dry run also what exceeds run.dry_run_limit before boxes are laid out.
std::vector<std::string> validate(const Deck& deck, const NamedFiles& files, int ranks,
                                  bool of_dry_run = false);
// Reasons that keep a valid deck from running here and now.
std::vector<std::string> validate_run(const Deck& deck, int ranks);
// Complaints that only this rank can find. Of a dry run also of files that are longer than it may read.
// Collective.
std::vector<std::string> validate_on(const Deck& deck, const Communicator& comm, bool of_dry_run = false);

// Whether a key plays a part with this deck.
bool is_idle(const Deck& deck, const Key& key);

// Keys that the file of the deck gives but that play no part, set back to their defaults, so that they cannot
// play one; and remarks that name each and the reason.
std::vector<std::string> drop_idle_keys(Deck& deck);

}  // namespace keel
