#pragma once

// Algebraic multigrid on virtual ranks. Its hierarchy does not depend on ranks: one process sets it up, and
// every virtual rank gets its rows.

#include <optional>
#include <string>
#include <vector>

#include "miniapp/modes/spmv/sparse_prediction.hpp"
#include "miniapp/report/amg/amg_findings.hpp"
#include "miniapp/schemes/scheme_table.hpp"
#include "solvers/amg/hierarchy.hpp"

namespace keel {

struct VirtualAmg {
    std::vector<AmgLevelFacts> levels;  // but for traffic
    AmgOutcome outcome = AmgOutcome::ready;
    std::string missing;  // for a cycle; empty where nothing is
    CoarsestFindings coarsest;
    // By level, but for the coarsest: values, rows of P for A P, values for P e, and what P^T r and P^T (A P)
    // send home; values of the coarsest, if a Krylov method solves there.
    std::vector<SchemeTable> exchanges;
    std::string too_large;  // why levels or exchanges are missing
    Trace setup = {};       // of the rank with most of each level; empty where anything is missing
    // Seconds are predicted from these, if that is asked for and nothing is missing: a solve here, the chosen
    // plans of all exchanges, and who has rows of the coarsest level.
    std::optional<SparseProxySolve> proxy = {};
    std::vector<ExchangePlan> plans = {};
    std::optional<CoarsestRanks> coarsest_ranks = {};
};

// `all` are the rows of the matrix; to set up and to plan may each take `bytes` bytes. With `solved` a solve
// is made for its seconds. The calling rank alone.
VirtualAmg plan_virtual_amg(const AmgOptions& options, const Resolved& resolved, const RowPartition& owners,
                            const GlobalRows& all, double bytes, const MatrixChoice& matrix = {},
                            const MatrixUse* solved = nullptr);

// Why no seconds of a solve are predicted where that is asked for, as of matrices alone.
std::string why_not_predicted(const VirtualAmg& amg);

// Records the set-up of a hierarchy on one rank: its collective operations, plans, exchanges and work are
// those on any number of ranks.
class SetupRecorder {
  public:
    // Both must outlive the recorder.
    SetupRecorder(const Ledger& ledger, const AmgOptions& options, std::size_t near_null_vectors)
        : recorder_(ledger), options_(options), vectors_(near_null_vectors) {}

    void note(Collective what, std::size_t words);
    void note(AmgStep step, AmgMessages what);
    void next_level() {
        ++level_;
        first_rows_ = true;
    }
    // The set-up of the virtual rank with most of each level, by their schemes and who chooses them.
    Trace take(const std::vector<AmgLevelFacts>& facts, const std::vector<MostOfLevel>& most,
               const Communication& comm);

  private:
    Recorder recorder_;
    const AmgOptions& options_;
    std::size_t vectors_;
    int level_ = 0;
    bool first_rows_ = true;  // whether no rows of the level have been exchanged
};

// The scheme of these entries among the facts of a level; null if they reverse another exchange.
SchemeOptions AmgLevelFacts::*scheme_of(VectorEntries::Use use);

// Work becomes that of the rank with most of each level. The work that a Krylov method does on the coarsest
// level is left out. The calling rank alone.
SparseProxySolve proxy_solve(const MatrixUse& use, AmgHierarchy& hierarchy, SparseMatrix& A, Ledger& ledger,
                             const std::vector<MostOfLevel>& most);

std::string virtual_amg_text(const VirtualAmg& amg, const AmgOptions& options);

}  // namespace keel
