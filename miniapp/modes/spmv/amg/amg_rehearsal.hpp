#pragma once

// A solve with algebraic multigrid on one rank, and its set-up, that stand for those of ranks that are not
// there: what the rank with most does, in order and without times.

#include <vector>

#include "miniapp/modes/spmv/matrix_memory.hpp"
#include "miniapp/prediction/trace.hpp"
#include "miniapp/setup/resolved.hpp"
#include "solvers/amg/hierarchy.hpp"
#include "solvers/krylov/bottom_solver.hpp"

namespace keel {

// Of a level, what the rank with most has, and all.
struct MostOfLevel {
    double entries = 0, rows = 0, entries_of_P = 0;
    double all_entries = 0, all_rows = 0, all_entries_of_P = 0;
};

struct AmgRehearsal {
    Trace setup;
    Trace solve;
    Report report;
};

// The levels as on the virtual ranks: the schemes of facts and what one rank has are theirs, and
// who chooses them.
struct ImaginedLevels {
    const std::vector<AmgLevelFacts>& facts;
    const std::vector<MostOfLevel>& most;
    const Communication& comm;
};

// `ledger` has what setting up did, and nothing else. Work becomes that of the rank with most of each level.
// What a Krylov method does on the coarsest level is not told. The calling rank alone.
AmgRehearsal rehearse(const MatrixUse& use, AmgHierarchy& hierarchy, SparseMatrix& A, Ledger& ledger,
                      const ImaginedLevels& levels);

}  // namespace keel
