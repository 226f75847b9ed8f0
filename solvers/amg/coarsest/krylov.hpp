#pragma once

// The coarsest level with a Krylov method, on the ranks that have rows of it.

#include <memory>
#include <optional>
#include <vector>

#include "solvers/amg/coarsest/coarsest.hpp"
#include "solvers/amg/options.hpp"
#include "solvers/amg/setup/ghost_values.hpp"
#include "solvers/krylov/bottom_solver.hpp"
#include "solvers/krylov/options.hpp"
#include "solvers/systems/sparse/sparse_system.hpp"

namespace keel {

// What the keys of [amg] make of a method on so many rows; nothing where its vectors could not be independent.
std::optional<BottomOptions> coarsest_solver(const AmgOptions& options, std::int64_t rows);

// Each visit starts from zero, and ends where the true residual meets the tolerance or the iterations are spent; what it then has is
// taken. Scaled by the diagonal where that can be divided by. All-reduces and exchanges are those of the method, over the ranks
// with rows.
class KrylovCoarsest : public Coarsest {
  public:
    // Exchanges and sums as `sparse` says, which has the column of the ledger. `null` and `size` as of the dense one. Team and ledger
    // must outlive this object. Collective.
    KrylovCoarsest(const Team& team, const PartRows& A, const BottomOptions& method, SparseOptions sparse,
                   double size, const std::optional<std::vector<double>>& null, Ledger& ledger);

    bool varies() const override { return true; }
    void solve(Field x, Field b) override;
    CoarsestVisits visits() const override { return visits_; }
    std::size_t bytes() const override;
    Traffic product() const { return product_; }  // sent by this rank in a product

  private:
    void remove_null(Field x);

    Communicator owners_;                   // of ranks with rows; those without have one of theirs
    std::unique_ptr<SparseMatrix> matrix_;  // null on ranks without rows, as all that follows
    BottomOptions method_;
    std::unique_ptr<BottomSolver> krylov_;
    std::unique_ptr<SparseSystem> system_;  // where there is a null vector
    Field null_, projected_;                // of length 1, and the right-hand side without it
    Traffic product_;
    CoarsestVisits visits_;
};

}  // namespace keel
