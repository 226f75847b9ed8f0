#include "solvers/multigrid/bottom/bottom.hpp"

#include "kernels/check.hpp"
#include "solvers/krylov/methods.hpp"
#include "solvers/multigrid/algebraic/algebraic_cycle.hpp"
#include "solvers/multigrid/bottom/level_krylov.hpp"
#include "solvers/multigrid/smoothers/smoother.hpp"

namespace keel {

namespace {

// Cycles are unscaled and tested by |r|, whatever other methods do.
BottomOptions as_made(BottomOptions options) {
    if (!method_named(options.solver).repeats_cycles()) return options;
    options.scaling = Scaling::none;
    options.norm = Norm::residual;
    return options;
}

class KrylovBottom : public BottomSolver {
  public:
    KrylovBottom(Level& level, bool singular, const BottomOptions& options, const AmgOptions& amg)
        : level_(level),
          singular_(singular),
          M_(uses_algebraic(options) ? std::make_unique<AlgebraicCycle>(level, singular, amg) : nullptr),
          krylov_(make_krylov(level_, singular, as_made(options), M_.get())) {
        if (M_) y_ = level.bottom_operations.make_field();
    }

    Visit solve(Field u, Field f) override {
        if (singular_) remove_mean(level_.bottom_operations, *level_.reduction, f);
        const Report report = krylov_->solve(M_ ? y_ : u, f);
        if (M_) level_.bottom_operations.copy(u, y_);
        return {.iterations = report.iterations,
                .outcome = name(report.outcome),
                .vanished = report.vanished,
                .restarts = report.restarts,
                .residual = report.residuals.back(),
                .true_residual = report.true_residual,
                .met = report.met,
                .unscaled_residual = report.unscaled_residual,
                .unscaled_met = report.unscaled_met,
                .columns_dropped = report.columns_dropped,
                .counts = report.counts};
    }

    Visit improve() override {  // u += L^-1 (f - L u)
        level_.ghosts->run(level_.u);
        level_.operations.residual(level_.r, level_.L, level_.u, level_.f);
        const Visit visit = solve(level_.r, level_.r);
        level_.operations.axpby(level_.u, 1, level_.u, 1, level_.r);
        return visit;
    }

    void update() override {
        if (M_) M_->update();
        krylov_->update();
    }
    AlgebraicCycle* algebraic() override { return M_.get(); }

  private:
    Level& level_;
    bool singular_;
    std::unique_ptr<AlgebraicCycle> M_;  // null: not preconditioned
    std::unique_ptr<KrylovSolver> krylov_;
    Field y_;  // in place of u, which may be f: what is preconditioned makes no copy of that
};

class RelaxedBottom : public BottomSolver {
  public:
    RelaxedBottom(Level& level, bool singular, int sweeps, const MultigridOptions& options)
        : level_(level), singular_(singular), sweeps_(sweeps), options_(options) {}

    Visit solve(Field u, Field f) override {
        check(u == level_.u && f == level_.f, "relaxation works on the level's own fields");
        if (singular_) remove_mean(level_.bottom_operations, *level_.reduction, f);
        level_.bottom_operations.fill(u, 0.0);
        return improve();
    }

    Visit improve() override {
        if (options_.symmetric)
            smooth_symmetric(level_, level_.bottom_operations, sweeps_, options_);
        else
            smooth(level_, level_.bottom_operations, sweeps_, options_);
        return {.iterations = sweeps_, .outcome = not_tested};
    }

  private:
    Level& level_;
    bool singular_;
    int sweeps_;
    MultigridOptions options_;
};

std::unique_ptr<BottomSolver> make_solver_on(Level& level, bool singular, const BottomOptions& bottom,
                                             const MultigridOptions& multigrid) {
    if (!method_named(bottom.solver).is_krylov() && !uses_algebraic(bottom))
        return std::make_unique<RelaxedBottom>(level, singular, bottom.sweeps, multigrid);
    return std::make_unique<KrylovBottom>(level, singular, bottom, multigrid.amg);
}

// A solver on the level that a bottom grid has elsewhere; ranks without it wait for the others.
class MovedBottom : public BottomSolver {
  public:
    MovedBottom(Level& spread, BottomGrid& grid, bool singular, const BottomOptions& bottom,
                const MultigridOptions& multigrid)
        : spread_(spread), grid_(grid) {
        if (grid.level()) solver_ = make_solver_on(*grid.level(), singular, bottom, multigrid);
    }

    Visit solve(Field u, Field f) override {
        collect(f, level().f);
        const Visit visit = solver_ ? solver_->solve(level().u, level().f) : elsewhere();
        grid_.spread(std::span(&level().u, 1), std::span(&u, 1));
        return visit;
    }

    Visit improve() override {
        collect(spread_.u, level().u);
        collect(spread_.f, level().f);
        const Visit visit = solver_ ? solver_->improve() : elsewhere();
        grid_.spread(std::span(&level().u, 1), std::span(&spread_.u, 1));
        return visit;
    }

    void update() override {
        if (solver_) solver_->update();
    }
    AlgebraicCycle* algebraic() override { return solver_ ? solver_->algebraic() : nullptr; }

  private:
    Level& level() { return grid_.level() ? *grid_.level() : spread_; }
    void collect(Field from, Field to) { grid_.collect(std::span(&from, 1), std::span(&to, 1)); }
    static Visit elsewhere() { return {.outcome = on_other_ranks}; }

    Level& spread_;
    BottomGrid& grid_;
    std::unique_ptr<BottomSolver> solver_;
};

}  // namespace

int bottom_fields(const BottomOptions& options) {
    if (uses_algebraic(options)) return krylov_fields(options, true) + 1;  // y
    return method_named(options.solver).is_krylov() ? krylov_fields(options, false) : 0;
}

std::unique_ptr<BottomSolver> make_bottom(Hierarchy& hierarchy, const BottomOptions& bottom,
                                          const MultigridOptions& multigrid) {
    if (!hierarchy.has(hierarchy.levels() - 1)) return nullptr;
    if (BottomGrid* const grid = hierarchy.bottom_grid())
        return std::make_unique<MovedBottom>(hierarchy.bottom(), *grid, hierarchy.singular(), bottom,
                                             multigrid);
    return make_solver_on(hierarchy.bottom(), hierarchy.singular(), bottom, multigrid);
}

}  // namespace keel
