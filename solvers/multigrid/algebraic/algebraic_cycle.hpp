#pragma once

// A cycle of algebraic multigrid over the matrix of a level as preconditioner of its operator.

#include <memory>
#include <string>

#include "solvers/amg/cycle.hpp"
#include "solvers/multigrid/algebraic/level_matrix.hpp"

namespace keel {

class AlgebraicCycle : public Preconditioner {
  public:
    // The level has a home. `singular`: constants are in the null space of its operator, and so of all
    // levels. The level must outlive this object. Collective over the level's ranks, as update() and apply().
    AlgebraicCycle(Level& level, bool singular, const AmgOptions& options);

    // Sets up again, for other coefficients.
    void update();
    std::string vanished() const override { return cycle_->vanished(); }
    bool varies() const override { return cycle_->varies(); }
    const AmgHierarchy& hierarchy() const { return *hierarchy_; }
    const Communicator& comm() const { return context_.comm; }  // the ranks that set up

    // By levels of its own: the last set-up, the seconds of all of it, and the cycles since they were
    // forgotten. The ledger of the level's home has all of that at the level itself.
    const Ledger& setup() const { return setup_; }
    double setup_seconds() const { return whole_setup_.at(Op::plans, 0).seconds; }
    const Ledger& cycles() const { return cycles_; }
    const CoarsestVisits& visits() const { return visits_; }
    void forget_cycles();

  private:
    void multiply(Vector z, Vector r) override;
    void set_up();
    void book(Ledger& more);  // entries of the ledger since it was booked last

    Level& level_;
    bool singular_;
    AmgOptions options_;
    SetupContext context_;
    Ledger ledger_;  // since it was booked last
    Ledger setup_, cycles_;
    Ledger whole_setup_{1};
    CoarsestVisits visits_;
    LevelVectors vectors_;
    std::unique_ptr<SparseMatrix> matrix_;
    std::unique_ptr<AmgHierarchy> hierarchy_;
    std::unique_ptr<AmgCycle> cycle_;
    Field x_, b_;
};

}  // namespace keel
