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

// The outcome of set-up. There is a cycle only if it is `ready`; AmgHierarchy::stalled() reports coarsening
// that ended early with a coarsest level that can still be solved.
enum class AmgOutcome { ready, not_finite, zero_diagonal, unsymmetric_pattern, too_large, singular };
constexpr auto names_of(AmgOutcome) {
    return std::array{"ready", "not_finite", "zero_diagonal", "unsymmetric_pattern", "too_large", "singular"};
}

// The facts of a level, over all ranks and of the rank with most; the coarsest has none of coarsening.
struct AmgLevelFacts : CoarseningFacts {
    std::int64_t rows = 0;
    double entries = 0;
    double entries_of_P = 0;  // 0 on the coarsest level
    int ranks_with_rows = 0;
    double most_entries = 0;
    SchemeOptions values_by;  // the scheme for values at ghosts
    // Sent by this rank in one operation.
    Traffic product;      // A x
    Traffic interpolate;  // P e
    Traffic restrict_;    // P^T r
};

struct AmgLevel {
    SparseMatrix* A = nullptr;
    std::unique_ptr<SparseMatrix> owned;  // null on level 0, whose matrix is the caller's
    std::unique_ptr<TimedOperations> operations;
    Field scale;                              // the weight of Jacobi over the diagonal; not Gauss-Seidel's
    Field x, b;                               // of the levels below the finest
    Field residual;                           // and the correction that is interpolated
    std::unique_ptr<LevelTransfer> transfer;  // to the next level; null on the coarsest
};

// Called with every level while the hierarchy is set up, and with the step to the next level, null on the
// coarsest.
using AmgWatch = std::function<void(const PartRows& A, const Coarsening* next)>;

// Options of set-up that no user chooses.
struct AmgSetting {
    AmgWatch watch = {};
    // Whether constants are in the null space of the finest matrix; the coarsest level is then solved without
    // them.
    bool singular = false;
    std::optional<NearNull> near_null = {};  // the finest matrix'; none: the constants
};

// Whether constants are in the null space: the entries of each row cancel but for rounding. Collective.
bool rows_cancel(const Communicator& comm, const GlobalRows& rows);

class AmgHierarchy {
  public:
    // `finest` has these rows, which are kept until the next level is made. It exchanges by the scheme of
    // `sparse`, other levels by those of the context. Set-up is booked in the ledger, which has a column for
    // each level. Context, matrix and ledger must outlive this object. Collective.
    AmgHierarchy(const SetupContext& context, SparseMatrix& finest, GlobalRows rows,
                 const AmgOptions& options, const SparseOptions& sparse, Ledger& ledger,
                 const AmgSetting& setting = {});

    const AmgOptions& options() const { return options_; }
    AmgOutcome outcome() const { return outcome_; }
    // The quantity that is missing for a cycle, as a noun phrase with its level; empty if there is a cycle.
    std::string missing() const;
    // Whether a level of more than max_coarse rows could not be coarsened.
    bool stalled() const { return stalled_; }
    int near_null_vectors() const { return near_null_vectors_; }
    bool varies() const { return coarsest_ && coarsest_->varies(); }
    std::size_t levels() const { return levels_.size(); }
    AmgLevel& level(std::size_t l) { return levels_[l]; }
    const AmgLevel& level_at(std::size_t l) const { return levels_[l]; }
    Coarsest& coarsest() { return *coarsest_; }
    const std::vector<AmgLevelFacts>& facts() const { return facts_; }
    // Null where there is no cycle.
    const Coarsest* solver_of_coarsest() const { return coarsest_.get(); }
    // The entries, or rows, of all levels over those of the finest.
    double operator_complexity() const;
    double grid_complexity() const;

  private:
    void add_level(const PartRows& A, SparseMatrix* finest, const SparseOptions& sparse);
    int last_level() const { return static_cast<int>(levels_.size()) - 1; }
    // The solver of a coarsest level of these rows, whose null vector is `null` if the setting has one.
    std::unique_ptr<Coarsest> make_coarsest(const PartRows& A, const SparseOptions& sparse, double size,
                                            const std::optional<std::vector<double>>& null);
    // The fault of the matrix of a level, the same on all ranks.
    AmgOutcome fault_of(const PartRows& A) const;

    const SetupContext& context_;
    AmgOptions options_;
    Ledger& ledger_;
    AmgOutcome outcome_ = AmgOutcome::ready;
    bool stalled_ = false;
    int near_null_vectors_ = 1;
    std::vector<AmgLevel> levels_;
    std::vector<AmgLevelFacts> facts_;
    std::unique_ptr<Coarsest> coarsest_;
};

}  // namespace keel
