#pragma once

// What a run with algebraic multigrid has to tell of its levels.

#include <string>
#include <vector>

#include "comm/ranks/communicator.hpp"
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
    std::vector<TimerRow> setup{};   // by step and level
    std::vector<TimerRow> solves{};  // by operation and level, per solve
};
// But for the times. Collective.
AmgFindings findings_of(const Communicator& comm, const AmgHierarchy& hierarchy);

// Lines of rows, entries and ranks by level.
std::string level_sizes(const std::vector<AmgLevelFacts>& levels);
std::string amg_text(const AmgFindings& amg);
// "amg", and timers of solver "amg.setup" and of the solves.
std::string amg_records(const AmgFindings& amg, const std::string& solver);

}  // namespace keel
