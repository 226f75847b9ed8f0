#pragma once

// The seconds that --dry-run predicts for a solve with a sparse matrix on comm.machine: from a proxy solve
// with the whole matrix on the calling rank alone, which records what the rank with most does, in order and
// without times.

#include <string>

#include "miniapp/modes/spmv/matrix_memory.hpp"
#include "miniapp/prediction/seconds/prediction.hpp"
#include "solvers/krylov/bottom_solver.hpp"

namespace keel {

struct SparseProxySolve {
    Trace solve;
    Report report = {};
};

// The solver's options; bottom.assumed_iterations are cut to a number that shows their proportions.
BottomOptions proxy_options(const NamedSolver& solver);

// Solves for the solution of a run, and records what that does. The recorder is older than the method.
SparseProxySolve solve_recorded(SparseMatrix& A, BottomSolver& krylov, Recorder& recorder);

// The share of a level that the rank with most has, and all of it.
struct MostOfLevel {
    double entries = 0, rows = 0, entries_of_P = 0;
    double all_entries = 0, all_rows = 0, all_entries_of_P = 0;
    int ranks = 0;  // with rows
};
// The work of one rank that has all becomes that of the one that has most: by the entries that are gone
// through, or by vectors.
void scale_levels(Trace& trace, const std::vector<MostOfLevel>& levels);

// A proxy solve by a Krylov method without algebraic multigrid, with the work of the rank with most.
SparseProxySolve proxy_solve(const MatrixUse& use, const GlobalRows& all, const MostOfLevel& most);
// Why there is none, with the remedy; empty if there is one. It follows "no seconds are predicted".
std::string why_not_predicted(const MatrixUse& use, const MatrixSize& size, const DryRunLimit& limit);

// From a proxy solve, the set-up of algebraic multigrid, and the chosen plans of all their exchanges.
// `coarsest`: null without algebraic multigrid.
Prediction predict(const MatrixUse& use, const Resolved& resolved, const MatrixSize& size,
                   const SparseProxySolve& proxy, const Trace& setup, const std::vector<ExchangePlan>& plans,
                   const CoarsestRanks* coarsest);

}  // namespace keel
