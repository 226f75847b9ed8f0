#pragma once

// Solves that are timed again and again, and what every mode that does so reports of them.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "miniapp/modes/grids/prediction/solve_cost.hpp"
#include "miniapp/report/timers.hpp"

namespace keel {

// One repeat: a solve, or one after the other in time steps.
struct TimedSolve {
    double seconds = 0;                 // of a solve, the slowest rank
    double my_seconds = 0;              // of all of them, this rank
    long graph_replays = 0;             // by this rank's device
    std::string progress;               // "9 cycles"
    std::optional<double> digits = {};  // that a solve gained, if it gained some
};
TimedSolve timed(const SolveCost& cost, std::string progress, std::optional<double> digits);

struct RepeatedSolves {
    int done = 0;
    std::vector<double> seconds;   // of a solve, by repeats
    std::optional<double> digits;  // mean
    std::vector<TimerRow> timers;  // of one solve
};

// Calls solve(n) for the warm-ups, whose n is below 0, and for the repeats. `begin` is called before the first
// repeat, `keep` behind each, without entries in the ledger. Fills in the median seconds. Nothing where the run
// is ended before a repeat was done. Collective.
struct RepeatActions {
    std::function<TimedSolve(int n)> solve;
    std::function<void()> begin = [] {};
    std::function<void()> keep = [] {};
    int solves = 1;               // in a repeat
    const char* what = "solves";  // repeats, in the report of an interrupted run
};
std::optional<RepeatedSolves> repeat_solves(const Setting& setting, Findings& findings,
                                            const RepeatActions& actions);

// Reports a text before and behind the tables of levels, and records between those of timers and of schemes.
struct SolvesReport {
    std::string before;
    std::string behind = {};
    std::string records = {};
};
void report_solves(const Setting& setting, const Findings& findings, const RepeatedSolves& solves,
                   const SolvesReport& report);

}  // namespace keel
