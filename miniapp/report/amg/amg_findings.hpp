#pragma once

// Findings of a run with algebraic multigrid, level by level.

#include <string>
#include <vector>

#include "comm/ranks/communicator.hpp"
#include "miniapp/report/records/records.hpp"
#include "miniapp/report/timers.hpp"
#include "solvers/amg/hierarchy.hpp"
#include "solvers/krylov/options.hpp"

namespace keel {

// Sent by the rank that sends most, each number by itself, and by all together.
struct TrafficOverRanks {
    Volume busiest;
    Volume all;
};
TrafficOverRanks over_ranks(const Communicator& comm, const Traffic& mine);  // collective

// An operation of the cycle or of set-up.
struct AmgOperation {
    const char* word;     // in records
    const char* meaning;  // in tables
    TrafficOverRanks traffic;
};

struct AmgLevelFindings {
    AmgLevelFacts facts;
    std::vector<AmgOperation> operations;
};

// The solver of the coarsest level. A visit collects words by collective operations of MPI: doubles that
// ranks receive, not counted as messages.
struct CoarsestFindings {
    CoarsestRule by = CoarsestRule::replicated;
    std::int64_t rows = 0;
    int ranks = 0;                         // with rows
    long calls = 0;                        // operations of MPI, a visit
    double most_words = 0, all_words = 0;  // received a visit: by the rank with most, by all
    double most_bytes = 0;                 // factors, of a rank that has them
    double visits = 0;                     // per solve, as the following, which only krylov has
    double iterations = 0;
    double missed = 0;  // visits that ended above the tolerance
};
// All but the visits, where these are the rows of the ranks.
CoarsestFindings coarsest_of(const AmgOptions& options, const RowPartition& partition);
std::string coarsest_text(const CoarsestFindings& coarsest);
Json coarsest_json(const CoarsestFindings& coarsest);

// The remedy if there is no cycle, printed after the reason.
std::string remedy(AmgOutcome outcome);
// A line of the keys that make cycles converge in fewer iterations, for a solve that did not converge.
std::string cures_of_cycles(const AmgOptions& options, const BottomOptions& solver);

struct AmgFindings {
    AmgOptions options;
    AmgOutcome outcome = AmgOutcome::ready;
    std::string missing{};
    bool stalled = false;
    double operator_complexity = 0;
    double grid_complexity = 0;
    int near_null_vectors = 1;
    double setup_seconds = 0;  // the slowest rank
    std::vector<AmgLevelFindings> levels{};
    CoarsestFindings coarsest{};
    std::vector<TimerRow> setup{};   // by step and level
    std::vector<TimerRow> solves{};  // by operation and level, per solve
};
// All findings but the times. Collective.
AmgFindings findings_of(const Communicator& comm, const AmgHierarchy& hierarchy);

// Fills in the visits per solve, from those of `solves` solves on the rank that has most. Collective.
void count_visits(AmgFindings& amg, const Communicator& comm, const CoarsestVisits& visits, int solves);

// Seconds by operation and level, of the slowest rank.
std::string level_times(const std::string& title, const std::vector<TimerRow>& rows);
// Lines of rows, entries and ranks by level.
std::string level_sizes(const std::vector<AmgLevelFacts>& levels);
std::string amg_text(const AmgFindings& amg);
// "amg", and timers, with the given names as their solver: those of set-up and those of the solves.
std::string amg_records(const AmgFindings& amg, const std::string& solver, const std::string& of_setup,
                        const std::string& of_solves);

}  // namespace keel
