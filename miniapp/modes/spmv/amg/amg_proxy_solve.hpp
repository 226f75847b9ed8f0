#pragma once

// A proxy solve with algebraic multigrid on one rank, and its set-up: what the virtual rank with most does,
// in order and without times.

#include <vector>

#include "miniapp/modes/spmv/sparse_proxy_solve.hpp"
#include "miniapp/setup/resolved.hpp"
#include "solvers/amg/hierarchy.hpp"

namespace keel {

// The share of a level that the rank with most has, and all of it.
struct MostOfLevel {
    double entries = 0, rows = 0, entries_of_P = 0;
    double all_entries = 0, all_rows = 0, all_entries_of_P = 0;
};

// The levels as on the virtual ranks: the schemes of facts and what one rank has are theirs, and who chooses
// them.
struct VirtualLevels {
    const std::vector<AmgLevelFacts>& facts;
    const std::vector<MostOfLevel>& most;
    const Communication& comm;
};

// `ledger` has what setting up did, and nothing else. Work becomes that of the rank with most of each level.
// The work that a Krylov method does on the coarsest level is left out. The calling rank alone.
SparseProxySolve proxy_solve(const MatrixUse& use, AmgHierarchy& hierarchy, SparseMatrix& A, Ledger& ledger,
                             const VirtualLevels& levels);

}  // namespace keel
