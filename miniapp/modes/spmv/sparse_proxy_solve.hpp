#pragma once

// A solve with the whole sparse matrix on the calling rank alone, in place of one on virtual ranks: what the
// rank with most does, in order and without times.

#include "miniapp/modes/spmv/matrix_memory.hpp"
#include "miniapp/prediction/trace.hpp"
#include "solvers/krylov/bottom_solver.hpp"

namespace keel {

struct SparseProxySolve {
    Trace solve;
    Trace setup = {};  // algebraic multigrid's, where that takes part
    Report report = {};
};

// The solver's options; bottom.assumed_iterations are cut to as many as show their proportions.
BottomOptions proxy_options(const NamedSolver& solver);

// Solves for the solution of a run, and records what that does. The recorder is older than the method.
SparseProxySolve solve_recorded(SparseMatrix& A, BottomSolver& krylov, Recorder& recorder);

// By a Krylov method without algebraic multigrid; work becomes that of the rank with most rows and most
// entries.
SparseProxySolve proxy_solve(const MatrixUse& use, const GlobalRows& all, const MatrixPart& largest);

}  // namespace keel
