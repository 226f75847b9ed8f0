#pragma once

// The coarsest level by conjugate gradients, on the ranks that have rows of it.

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

// A visit reduces the 2-norm of the residual by this tolerance within the limit of iterations.
inline constexpr double coarsest_tolerance = 1e-3;
inline constexpr int coarsest_iterations = 500;

// The solver of a coarsest level of `rows` rows: one row is factorised.
CoarsestRule coarsest_rule(const AmgOptions& options, std::int64_t rows);

// Each visit starts from zero and ends where the true residual meets the tolerance or the iterations are
// spent; either way its result is taken. The matrix is scaled by its diagonal where that is positive.
// All-reduces and exchanges are those of conjugate gradients, over the ranks with rows.
class KrylovCoarsest : public Coarsest {
  public:
    // Exchanges and all-reduces are those of `sparse`, which has the column of the ledger. `null` and `size`
    // are those of DenseCoarsest. SetupContext and ledger must outlive this object. Collective.
    KrylovCoarsest(const SetupContext& context, const PartRows& A, SparseOptions sparse, double size,
                   const std::optional<std::vector<double>>& null, Ledger& ledger);

    bool varies() const override { return true; }
    void solve(Field x, Field b) override;
    CoarsestVisits visits() const override { return visits_; }
    Traffic product() const { return product_; }  // sent by this rank in a product

  private:
    void remove_null(Field x);

    Communicator owners_;                   // ranks with rows; those without have one of theirs
    std::unique_ptr<SparseMatrix> matrix_;  // null on ranks without rows, as all that follows
    BottomOptions method_;
    std::unique_ptr<BottomSolver> krylov_;
    std::unique_ptr<SparseSystem> system_;  // null without a null vector
    Field null_, projected_;  // the null vector, of length 1, and the right-hand side without it
    Traffic product_;
    CoarsestVisits visits_;
};

}  // namespace keel
