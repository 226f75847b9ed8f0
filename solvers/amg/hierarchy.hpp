#pragma once

// The levels of algebraic multigrid over a distributed sparse matrix.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "solvers/amg/coarsening.hpp"
#include "solvers/amg/coarsest/coarsest.hpp"
#include "solvers/amg/transfer.hpp"

namespace keel {

// What came of setting up. With `ready` alone there is a cycle; coarsening that ends early, with a coarsest level that can
// still be solved, is told by AmgHierarchy::stalled().
enum class AmgOutcome { ready, not_finite, zero_diagonal, unsymmetric_pattern, too_large, singular };
constexpr auto names_of(AmgOutcome) {
    using Name = Named<AmgOutcome>;
    return std::array{Name{AmgOutcome::ready, "ready"},
                      Name{AmgOutcome::not_finite, "not_finite"},
                      Name{AmgOutcome::zero_diagonal, "zero_diagonal"},
                      Name{AmgOutcome::unsymmetric_pattern, "unsymmetric_pattern"},
                      Name{AmgOutcome::too_large, "too_large"},
                      Name{AmgOutcome::singular, "singular"}};
}

// What is told of a level: of all ranks together, and of the rank with most.
struct AmgLevelFacts {
    std::int64_t rows = 0;
    double entries = 0;
    double entries_of_P = 0;  // 0 on the coarsest level
    double bound = 0;         // of the eigenvalues of D^-1 A; 0 on the coarsest level
    int rounds = 0;           // of the search for roots
    int ranks_with_rows = 0;
    double most_entries = 0;
    // Not on the coarsest level, but for the first.
    SchemeOptions values_by, rows_by, partial_rows_by, transfers_by;
    // This rank's, of one operation each.
    Traffic product;      // A x
    Traffic interpolate;  // P e
    Traffic restrict_;    // P^T r
    CoarseningTraffic setup;
};

struct AmgLevel {
    SparseMatrix* A = nullptr;
    std::unique_ptr<SparseMatrix> owned;  // null on level 0, whose matrix is the caller's
    std::unique_ptr<TimedOperations> operations;
    Field scale;       // what a residual is multiplied by, row by row, to smooth; not Gauss-Seidel's
    Field step;        // Chebyshev's
    double bound = 0;  // of the eigenvalues of D^-1 A; where Chebyshev smooths
    Field x, b;        // of the levels below the finest
    Field residual;    // and what is interpolated
    std::unique_ptr<LevelTransfer> transfer;  // to the next level; null on the coarsest
};

// Is shown every level while the hierarchy is set up, with what comes next, which the coarsest one lacks.
using AmgWatch = std::function<void(const PartRows& A, const Coarsening* next)>;

// What else there is to know of a hierarchy.
struct AmgSetting {
    AmgWatch watch = {};
    // Constants are in the null space of the finest matrix itself; the coarsest level is then solved without them.
    bool singular = false;
};

// Whether constants are in the null space: the entries of each row cancel but for rounding. Collective.
bool rows_cancel(const Communicator& comm, const GlobalRows& rows);

class AmgHierarchy {
  public:
    // `finest` has these rows, whose near-null space is the constants and which are held until the next level is there, and exchanges
    // by the scheme of `sparse`, other levels by what the team says. Set-up is booked in the ledger, which has a column for each level
    // that is booked. Team, matrix and ledger must outlive this object. Collective.
    AmgHierarchy(const Team& team, SparseMatrix& finest, GlobalRows rows, const AmgOptions& options,
                 const SparseOptions& sparse, Ledger& ledger, const AmgSetting& setting = {});

    const AmgOptions& options() const { return options_; }
    AmgOutcome outcome() const { return outcome_; }
    // What is missing for a cycle, as a noun phrase with its level; empty where nothing is.
    std::string missing() const;
    bool stalled() const {
        return stalled_;
    }  // nothing was put together although a level had more rows than wanted
    bool varies() const { return coarsest_ && coarsest_->varies(); }
    std::size_t levels() const { return levels_.size(); }
    AmgLevel& level(std::size_t l) { return levels_[l]; }
    const AmgLevel& level_at(std::size_t l) const { return levels_[l]; }
    Coarsest& coarsest() { return *coarsest_; }
    const std::vector<AmgLevelFacts>& facts() const { return facts_; }
    // Null where there is no cycle.
    const Coarsest* solver_of_coarsest() const { return coarsest_.get(); }
    // How the coarsest level is solved on: as asked for, or, with too few rows for that, by dense factors.
    CoarsestRule coarsest_by() const { return coarsest_by_; }
    // Of this rank's levels, without the matrix of the finest, buffers of messages and what solves on the coarsest.
    AmgMemory memory() const;
    // Entries, or rows, of all levels over those of the finest.
    double operator_complexity() const;
    double grid_complexity() const;

  private:
    void add_level(const PartRows& A, SparseMatrix* finest, const SparseOptions& sparse);
    int column() const;  // of the ledger, for the last level
    // What solves on a coarsest level of these rows, whose null vector is `null` where the setting says so.
    std::unique_ptr<Coarsest> make_coarsest(const PartRows& A, const SparseOptions& sparse, double size,
                                            const std::optional<std::vector<double>>& null);
    // What is wrong with the matrix of a level, the same on all ranks.
    AmgOutcome fault_of(const PartRows& A) const;

    const Team& team_;
    AmgOptions options_;
    Ledger& ledger_;
    int first_column_;
    AmgOutcome outcome_ = AmgOutcome::ready;
    bool stalled_ = false;
    std::vector<AmgLevel> levels_;
    std::vector<AmgLevelFacts> facts_;
    CoarsestRule coarsest_by_ = CoarsestRule::replicated;
    std::unique_ptr<Coarsest> coarsest_;
};

}  // namespace keel
