#pragma once

// What a run with algebraic multigrid has to tell of its levels.

#include <string>
#include <vector>

#include "comm/ranks/communicator.hpp"
#include "miniapp/report/records/records.hpp"
#include "miniapp/report/timers.hpp"
#include "solvers/amg/hierarchy.hpp"

namespace keel {

// Sent by the rank that sends most, each number by itself, and by all together.
struct TrafficOverRanks {
    Traffic busiest{};
    Traffic all{};
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

// How the coarsest level is solved on. What a visit collects by operations of MPI is no message of ours: doubles that ranks receive.
struct CoarsestFindings {
    CoarsestRule by = CoarsestRule::replicated;
    std::int64_t rows = 0;
    int ranks = 0;                         // with rows
    long calls = 0;                        // operations of MPI, a visit
    double most_words = 0, all_words = 0;  // of the rank that receives most, and of all, a visit
    double most_bytes = 0;  // of factors, or of matrix and vectors of a method; the rank with most
    double visits = 0;      // a solve, as what follows, which are of krylov alone
    double iterations = 0;
    double missed = 0;  // visits that ended above the tolerance
};
// What is known of it without a run.
CoarsestFindings coarsest_of(const AmgOptions& options, const std::vector<AmgLevelFacts>& levels,
                             double rows_of_most);
std::string coarsest_text(const CoarsestFindings& coarsest);
Json coarsest_json(const CoarsestFindings& coarsest);

// What to do where there is no cycle, to follow what is missing.
std::string remedy(AmgOutcome outcome);

struct AmgFindings {
    AmgOptions options;
    AmgOutcome outcome = AmgOutcome::ready;
    std::string missing{};
    bool stalled = false;
    double operator_complexity = 0;
    double grid_complexity = 0;
    AmgMemory most{};          // of the rank with most bytes of matrices
    double setup_seconds = 0;  // the slowest rank
    std::vector<AmgLevelFindings> levels{};
    CoarsestFindings coarsest{};
    std::vector<TimerRow> setup{};   // by step and level
    std::vector<TimerRow> solves{};  // by operation and level, per solve
};
// But for the times. Collective.
AmgFindings findings_of(const Communicator& comm, const AmgHierarchy& hierarchy);

// Those of so many solves, on the rank that has most, become a solve's. Collective.
void count_visits(AmgFindings& amg, const Communicator& comm, const CoarsestVisits& visits, int solves);

// Seconds by operation and level, of the slowest rank.
std::string level_times(const std::string& title, const std::vector<TimerRow>& rows);
// Lines of rows, entries and ranks by level.
std::string level_sizes(const std::vector<AmgLevelFacts>& levels);
std::string amg_text(const AmgFindings& amg);
// "amg", and timers, whose solver is called as is said: of set-up, and of the solves.
std::string amg_records(const AmgFindings& amg, const std::string& solver, const std::string& of_setup,
                        const std::string& of_solves);

}  // namespace keel
