#pragma once

// Solves on grids that are timed again and again: the cost of each, and what modes report of them.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "miniapp/modes/grids/grid_mode.hpp"
#include "miniapp/modes/repeat.hpp"
#include "miniapp/report/amg/amg_findings.hpp"
#include "miniapp/report/records/records.hpp"
#include "solvers/multigrid/multigrid.hpp"

namespace keel {

// The cost of one solve without set-up; communication on all levels.
struct SolveCost {
    double seconds = 0;     // the slowest rank
    double my_seconds = 0;  // this rank
    long reductions = 0;
    long reduction_words = 0;
    long exchanges = 0;
    long graph_replays = 0;  // by this rank's device
};

// Runs `solve`, which is collective, from a barrier on. Collective.
SolveCost measured(const Communicator& comm, const Backend& backend, const Hierarchy& hierarchy,
                   const std::function<void()>& solve);

// One multigrid solve by the decorated hierarchy.
struct SolveRecord {
    std::string solver;  // at the bottom
    SolveReport report;
    SolveCost cost;
    double u_l2 = 0;
    std::optional<int> step = {};     // if it is one of several
    double coefficients_seconds = 0;  // the slowest rank's, on the coefficients of the step
};
// Measured, from u = 0 or from u as it is; the ledger then holds this solve as well. Collective.
SolveRecord solve_once(const Setting& setting, Multigrid& multigrid, const std::string& solver,
                       Guess guess = Guess::zero);

enum class FirstGuess { zero, last };
constexpr auto names_of(FirstGuess) {
    return std::array{"zero", "last"};
}
struct StepOptions {
    int steps = 1;
    FirstGuess start = FirstGuess::zero;
};
// The same for every time step in turn, with `done` called after each. Between the solves the ledger gets the
// messages of new coefficients, and no time. Collective.
std::vector<SolveRecord> solve_steps(const Setting& setting, Multigrid& multigrid, const std::string& solver,
                                     const std::function<void(const SolveRecord&)>& done);
// "solve 2, step 0: 9 cycles, 1.2 ms", the n-th of `all`.
void say_solved(const Setting& setting, const std::string& which, const SolveRecord& solve, int n, int all);
// Steps need a right-hand side that changes, and cycles that start from the last solution if asked to.
void check_steps(Rules& rules);

// "converged", "stagnated: ..." and why.
std::string outcome_text(const SolveReport& report);
// The convergence of a solve as text, and the solve as a record.
std::string convergence_text(const SolveRecord& solve, const BottomOptions& bottom);
Json solve_record(std::size_t repeat, const SolveRecord& solve);
// Steps side by side.
std::string steps_text(std::span<const SolveRecord> steps);
// The time of a Krylov method at the bottom by kernel, in `iterations` iterations a solve; nothing of
// relaxation.
std::string bottom_kernel_records(const std::vector<TimerRow>& timers, int level, const NamedSolver& solver,
                                  double iterations);
// Communication and |u|, which every record of a solve ends with.
void add_cost(Json& record, const SolveCost& cost, double u_l2);

// --- Repeats

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
    const char* timed = "Solve";  // the name of a repeat
    double visits = 0;            // of the bottom in one
};
void report_solves(const Setting& setting, const Findings& findings, const RepeatedSolves& solves,
                   const SolvesReport& report);

// --- Algebraic multigrid on the coarsest level

// The findings of the measured solves since the cycles were forgotten. Nothing on ranks that have no part of
// it. Collective over those that have; complete on the first of them, which is the first of all.
std::optional<AmgFindings> algebraic_findings(Multigrid& multigrid, int solves);

// Forgets the cycles of warm-ups.
void forget_cycles(Multigrid& multigrid);

// Text, and records of the named bottom solver, whose timers are called "amg.setup" and "amg.cycles", behind
// its name where there are `several`; both empty without findings.
std::string algebraic_text(const std::optional<AmgFindings>& amg, const std::string& solver,
                           int bottom_level);
std::string algebraic_records(const std::optional<AmgFindings>& amg, const std::string& solver,
                              bool several = false);

}  // namespace keel
