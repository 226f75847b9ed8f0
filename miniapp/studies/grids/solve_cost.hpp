#pragma once

// What one solve costs.

#include <functional>
#include <string>

#include "comm/ranks/communicator.hpp"
#include "kernels/backends/registry.hpp"
#include "miniapp/report/records.hpp"
#include "miniapp/studies/grids/grid_study.hpp"
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

// One multigrid solve from u = 0 by the decorated hierarchy.
struct SolveRecord {
    std::string solver;  // at the bottom
    SolveReport report;
    SolveCost cost;
    double u_l2 = 0;
};
// Measured; the ledger then holds this solve as well. Collective.
SolveRecord solve_once(const Setting& setting, Multigrid& multigrid, const std::string& solver);

// "converged", "stagnated: ..." and why.
std::string outcome_text(const SolveReport& report);
// The convergence of a solve as text, and the solve as a record.
std::string convergence_text(const SolveRecord& solve);
Json solve_record(std::size_t repeat, const SolveRecord& solve);
// Communication and |u|, which every record of a solve ends with.
void add_cost(Json& record, const SolveCost& cost, double u_l2);

}  // namespace keel
