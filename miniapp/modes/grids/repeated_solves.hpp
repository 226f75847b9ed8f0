#pragma once

// Solves on grids that are timed again and again, and what every mode that does so reports of them.

#include <optional>
#include <string>

#include "miniapp/modes/grids/prediction/solve_cost.hpp"
#include "miniapp/modes/repeat.hpp"

namespace keel {

TimedSolve timed(const SolveCost& cost, std::string progress, std::optional<double> digits);

inline std::optional<RepeatedSolves> repeat_solves(const Setting& setting, Findings& findings,
                                                   const RepeatActions& actions) {
    return repeat_solves(setting.resolved, setting.context, setting.ledger, findings, actions);
}

// Reports a text before and behind the tables of levels, and records between those of timers and of schemes.
struct SolvesReport {
    std::string before;
    std::string behind = {};
    std::string records = {};
};
void report_solves(const Setting& setting, const Findings& findings, const RepeatedSolves& solves,
                   const SolvesReport& report);

}  // namespace keel
