#include "solvers/multigrid/algebraic/algebraic_cycle.hpp"

#include "kernels/check.hpp"
#include "solvers/multigrid/algebraic/level_home.hpp"

namespace keel {
namespace {

const LevelHome& home_of(const Level& level) {
    check(level.home != nullptr, "algebraic multigrid is set up where the bottom level is solved on");
    return *level.home;
}

}  // namespace

AlgebraicCycle::AlgebraicCycle(Level& level, bool singular, const AmgOptions& options)
    : level_(level),
      singular_(singular),
      options_(options),
      context_{home_of(level).comm, home_of(level).topology, home_of(level).backend,
               home_of(level).scheme_for()},
      ledger_(level.home->ledger.below(level.home->sparse.level, most_amg_levels)),
      setup_(most_amg_levels),
      cycles_(most_amg_levels),
      vectors_(level) {
    update();
}

void AlgebraicCycle::update() {
    setup_.clear();
    whole_setup_.clear();
    timed(whole_setup_, Op::plans, 0, [&] { set_up(); });
    book(setup_);
}

void AlgebraicCycle::forget_cycles() {
    cycles_.clear();
    visits_ = {};
}

void AlgebraicCycle::book(Ledger& more) {
    level_.home->ledger.fold(ledger_, static_cast<int>(hierarchy_->levels()), level_.home->sparse.level);
    more += ledger_;
    ledger_.clear();
}

void AlgebraicCycle::set_up() {
    const LevelHome& home = *level_.home;
    // The last ones first: there need not be room for two.
    cycle_.reset();
    hierarchy_.reset();
    matrix_.reset();
    GlobalRows rows = rows_of_level(level_);
    SparseOptions sparse = home.sparse;
    sparse.keeps_rows = false;
    sparse.level = 0;
    matrix_ = std::make_unique<SparseMatrix>(context_.comm, context_.topology, context_.backend,
                                             rows_of_ranks(level_.layout), rows, sparse, ledger_);
    hierarchy_ = std::make_unique<AmgHierarchy>(context_, *matrix_, std::move(rows), options_, sparse,
                                                ledger_, AmgSetting{.watch = {}, .singular = singular_});
    cycle_ = std::make_unique<AmgCycle>(*hierarchy_);
    vectors_.bind(matrix_->operations());
    x_ = matrix_->make_vector();
    b_ = matrix_->make_vector();
}

void AlgebraicCycle::multiply(Vector z, Vector r) {
    vectors_.from_grid(b_, r);
    const Coarsest* const coarsest = hierarchy_->solver_of_coarsest();
    const CoarsestVisits before = coarsest ? coarsest->visits() : CoarsestVisits();
    cycle_->apply(x_, b_);
    if (coarsest) visits_ += coarsest->visits() - before;
    vectors_.to_grid(z, x_);
    book(cycles_);
}

}  // namespace keel
