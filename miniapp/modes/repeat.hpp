#pragma once

// Steps that modes share: schemes are chosen, then work repeats, some times to warm up, then those that
// count, until a signal or the time limit ends the run.

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "comm/ranks/interrupts.hpp"
#include "kernels/timing/ledger.hpp"
#include "miniapp/modes/mode.hpp"
#include "miniapp/report/timers.hpp"
#include "miniapp/report/verdict.hpp"
#include "miniapp/schemes/scheme_choice.hpp"

namespace keel {

// Whether a run is to end before all is done: a signal asks for it, or its time is up.
class Ending {
  public:
    // `deadline`: on the clock of rank 0, as now() tells it; those of other ranks play no part.
    explicit Ending(double deadline = std::numeric_limits<double>::infinity()) : deadline_(deadline) {
        note_interrupts();
    }

    // To be asked between pieces of work. The next piece is taken to last as long as the longest so far, and
    // checks and tables behind it as long again: nothing predicts them better. The same on all ranks.
    // Collective.
    Interruption asked(const Communicator& comm);

  private:
    double deadline_;
    double last_asked_ = 0;
    double longest_ = 0;
};

struct Repeats {
    std::string what;  // "solves"
    int warmup = 1;
    int counted = 5;
    std::function<bool()> more = [] { return false; };  // asked behind these, and each further one
};

// The exchanges of a run by all schemes, if these are compared, and the chosen ones; trials are few, and end
// by themselves. Collective.
std::vector<SchemeTable> choose_schemes(const Resolved& resolved, const RunContext& context,
                                        const std::function<std::vector<SchemeTable>()>& compare,
                                        const MakeTrial& make_trial, Findings& findings);

// Calls action(n) for n from -warmup on, and ends before the next where the run was asked to. Returns the
// number of those done that count, and notes it in the findings. Collective.
int repeat(const RunContext& context, const Repeats& repeats, Findings& findings,
           const std::function<void(int n)>& action);

// "warm-up 1", "solve 3": the n-th solve, counted from -run.warmup on.
std::string numbered(int n);

// One repeat: a solve, or one after the other in time steps.
struct TimedSolve {
    double seconds = 0;                 // a solve's, on the slowest rank
    double my_seconds = 0;              // all solves' together, on this rank
    long graph_replays = 0;             // by this rank's device
    std::string progress = {};          // "9 cycles"
    std::optional<double> digits = {};  // that a solve gained, if it gained some
};

struct RepeatedSolves {
    int done = 0;
    int solves = 0;                // in all of them
    std::vector<double> seconds;   // a solve's, by repeats
    std::optional<double> digits;  // mean
    std::vector<TimerRow> timers;  // of one solve
};

// `begin` is called before the first repeat, `keep` behind each, without entries in the ledger.
struct RepeatActions {
    std::function<TimedSolve(int n)> solve;
    std::function<void()> begin = [] {};
    std::function<void()> keep = [] {};
    int solves = 1;               // in a repeat
    const char* what = "solves";  // repeats, in the report of an interrupted run
};

// Calls solve(n) for the warm-ups, whose n is below 0, and for the repeats, and fills in the median seconds.
// The ledger, which solves write, is empty before the first repeat. Returns nothing where the run ends before
// a repeat is done. Collective.
std::optional<RepeatedSolves> repeat_solves(const Resolved& resolved, const RunContext& context,
                                            Ledger& ledger, Findings& findings, const RepeatActions& actions);

// The verdict on the timers of a solve, with the predicted fastest schemes as remedy. Empty if operations
// have no times of their own, as on a device that runs behind the host. Complete on rank 0.
TimeVerdict verdict_on(const Resolved& resolved, const RunFacts& facts,
                       const std::vector<SchemeTable>& schemes, const std::vector<TimerRow>& timers,
                       int solves, const std::string& solver = "");

}  // namespace keel
