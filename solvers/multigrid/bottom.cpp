#include "solvers/multigrid/bottom.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "kernels/check.hpp"
#include "kernels/vector.hpp"
#include "solvers/multigrid/smoother.hpp"
#include "solvers/systems/preconditioner.hpp"

namespace keel {

namespace {

// Of the system that the level makes with this scaling. L is positive semi-definite, and the rows of D^-1 L lie about 1.
Spectrum spectrum_of(const Level& level, DiagonalScaling scaling) {
    if (scaling == DiagonalScaling::none) return {0.0, level.gershgorin_bound};
    return {std::max(0.0, 2.0 - level.jacobi_bound), level.jacobi_bound};
}

}  // namespace

DiagonalScaling scaling_of(const BottomOptions& options) {
    return options.scaling == Scaling::none ? DiagonalScaling::none : bottom_method(options.solver).jacobi;
}

std::unique_ptr<KrylovMethod> make_method(const BottomOptions& options, LinearSystem& A,
                                          const Spectrum& spectrum) {
    const std::string& name = options.solver;
    const SStep s_step{options.s, options.basis, options.telescoping, options.powers, spectrum};
    if (name == "bicgstab") return make_bicgstab(A);
    if (name == "bicgstab_fused") return make_bicgstab_fused(A);
    if (name == "cg") return make_cg(A);
    if (name == "ca_bicgstab") return make_ca_bicgstab(A, s_step);
    if (name == "ca_cg") return make_ca_cg(A, s_step);
    if (name == "pipelined_cg") return make_pipelined_cg(A);
    if (name == "deep_pipelined_cg")
        return make_deep_pipelined_cg(A, options.depth, spectrum.lowest, spectrum.highest);
    if (name == "pipelined_bicgstab") return make_pipelined_bicgstab(A, options.replace_every);
    if (name == "enlarged_cg") return make_enlarged_cg(A, options.block, options.splitting, options.variant);
    if (name == "sre_cg") return make_sre_cg(A, options.block, options.splitting);
    throw std::invalid_argument("unknown bottom solver " + name);
}

namespace {

// The level's deep ghosts, where the options ask for them.
DeepGhosts deep_ghosts_of(Level& level, const BottomOptions& options) {
    const PowersNeed need = powers_need(options, level.layout.width());
    if (need.layers == 0) return {};
    check_at_least(level.deep_layers, need.layers,
                   "the bottom level has the ghost layers that the powers need");
    level.deep_ghosts->reserve(static_cast<std::size_t>(need.at_once));
    return {level.deep_ghosts.get(), level.deep_layers};
}

class PlainKrylov : public KrylovSolver {
  public:
    PlainKrylov(Level& level, bool singular, const BottomOptions& options)
        : level_(level),
          singular_(singular),
          stop_{options.tolerance, options.max_iterations, options.max_restarts},
          system_(level.bottom_operations, *level.ghosts, *level.reduction, level.L, scaling_of(options),
                  static_cast<std::size_t>(vectors_at_once(options)), deep_ghosts_of(level, options)),
          solver_(system_, make_method(options, system_, spectrum_of(level, scaling_of(options)))),
          y_(system_.make_vector()),
          b_(system_.make_vector()) {}

    Report solve(Field u, Field f) override {
        if (singular_) remove_mean(level_.bottom_operations, *level_.reduction, f);
        system_.scale_right_side(b_, f);
        Report report = solver_.solve(y_, b_, stop_);
        system_.unscale_solution(u, y_);
        return report;
    }

  private:
    Level& level_;
    bool singular_;
    Stop stop_;
    GridSystem system_;
    Solver solver_;
    Field y_, b_;
};

// Solves L M y = f, or L u = f with preconditioned CG, where y is u.
class PreconditionedKrylov : public KrylovSolver {
  public:
    PreconditionedKrylov(Level& level, bool singular, const BottomOptions& options, Preconditioner& M)
        : level_(level),
          singular_(singular),
          stop_{options.tolerance, options.max_iterations, options.max_restarts},
          L_(level.bottom_operations, *level.ghosts, *level.reduction, level.L, DiagonalScaling::none,
             static_cast<std::size_t>(vectors_at_once(options))) {
        if (options.solver == "cg") {
            solver_ = std::make_unique<Solver>(L_, make_preconditioned_cg(L_, M));
            return;
        }
        LM_.emplace(L_, M, static_cast<std::size_t>(vectors_at_once(options)));
        solver_ = std::make_unique<Solver>(*LM_, make_method(options, *LM_, {}));
        y_ = LM_->make_vector();
    }

    Report solve(Field u, Field f) override {
        if (singular_) remove_mean(level_.bottom_operations, *level_.reduction, f);
        Report report = solver_->solve(LM_ ? y_ : u, f, stop_);
        if (LM_) LM_->recover(u, y_);
        return report;
    }

  private:
    Level& level_;
    bool singular_;
    Stop stop_;
    GridSystem L_;
    std::optional<RightPreconditioned> LM_;
    std::unique_ptr<Solver> solver_;
    Field y_;
};
class KrylovBottom : public BottomSolver {
  public:
    KrylovBottom(Level& level, bool singular, const BottomOptions& options)
        : level_(level), krylov_(make_krylov(level_, singular, options)) {}

    Visit solve(Field u, Field f) override {
        const Report report = krylov_->solve(u, f);
        return {report.iterations, name(report.outcome),    report.vanished,
                report.restarts,   report.residuals.back(), report.true_residual,
                report.met,        report.columns_dropped,  report.counts};
    }

    Visit improve() override {  // u += L^-1 (f - L u)
        level_.ghosts->run(level_.u);
        level_.operations.residual(level_.r, level_.L, level_.u, level_.f);
        const Visit visit = solve(level_.r, level_.r);
        level_.operations.axpby(level_.u, 1, level_.u, 1, level_.r);
        return visit;
    }

  private:
    Level& level_;
    std::unique_ptr<KrylovSolver> krylov_;
};

class SmoothBottom : public BottomSolver {
  public:
    SmoothBottom(Level& level, bool singular, int sweeps, const MultigridOptions& options)
        : level_(level), singular_(singular), sweeps_(sweeps), options_(options) {}

    Visit solve(Field u, Field f) override {
        check(u == level_.u && f == level_.f, "relaxation works on the level's own fields");
        if (singular_) remove_mean(level_.bottom_operations, *level_.reduction, f);
        level_.bottom_operations.fill(u, 0.0);
        return improve();
    }

    Visit improve() override {
        (options_.symmetric ? smooth_symmetric : smooth)(level_, level_.bottom_operations, sweeps_, options_);
        return {sweeps_, "not_tested", "", 0, std::nullopt, std::nullopt, true, 0, {}};
    }

  private:
    Level& level_;
    bool singular_;
    int sweeps_;
    MultigridOptions options_;
};

std::unique_ptr<BottomSolver> make_solver_on(Level& level, bool singular, const BottomOptions& bottom,
                                             const MultigridOptions& multigrid) {
    if (bottom.solver == "smooth")
        return std::make_unique<SmoothBottom>(level, singular, bottom.sweeps, multigrid);
    return std::make_unique<KrylovBottom>(level, singular, bottom);
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

  private:
    Level& level() { return grid_.level() ? *grid_.level() : spread_; }
    void collect(Field from, Field to) { grid_.collect(std::span(&from, 1), std::span(&to, 1)); }
    static Visit elsewhere() {
        Visit visit;
        visit.outcome = "on_other_ranks";
        return visit;
    }

    Level& spread_;
    BottomGrid& grid_;
    std::unique_ptr<BottomSolver> solver_;
};

}  // namespace

int vectors_at_once(const BottomOptions& options) {
    return static_cast<int>(bottom_method(options.solver).at_once.of(options));
}

double application_flops(const BottomOptions& options) {
    const DiagonalScaling scaling = scaling_of(options);
    return Apply::cost.flops + (scaling == DiagonalScaling::none    ? 0
                                : scaling == DiagonalScaling::right ? Multiply::cost.flops
                                                                    : 2 * Multiply::cost.flops);
}

PowersNeed powers_need(const BottomOptions& options, int width) {
    const bool cg = options.solver == "ca_cg";
    if (options.powers != Powers::matrix_powers || (!cg && options.solver != "ca_bicgstab")) return {};
    const int degree = (cg ? 1 : 2) * options.s;
    const int layers = std::min({options.powers_depth > 0 ? options.powers_depth : degree, degree, width});
    // A recurrence of three terms goes on from two vectors of each basis.
    const bool two = options.basis == Basis::chebyshev && layers > 1 && degree > layers + 1;
    return {layers, two ? 4 : 2};
}

int bottom_fields(const BottomOptions& options) {
    return options.solver == "smooth" ? 0 : krylov_fields(options, false);
}

int krylov_fields(const BottomOptions& options, bool preconditioned) {
    const int of_method = static_cast<int>(bottom_method(options.solver).vectors.of(options));
    const int of_solver = 2;  // the residual and the best iterate
    if (!preconditioned)      // y, b
        return of_method + of_solver + 2 + GridSystem::fields(scaling_of(options), vectors_at_once(options));
    return of_method + of_solver + 1 +
           (options.solver == "cg" ? 0 : vectors_at_once(options));  // z, or y and M x
}

bool accepts_preconditioner(const BottomMethod& method) {
    return method.name == "cg" || method.jacobi == DiagonalScaling::right;
}

std::vector<std::string> preconditionable() {
    std::vector<std::string> names;
    for (const BottomMethod& method : bottom_methods())
        if (accepts_preconditioner(method)) names.push_back(method.name);
    return names;
}

std::unique_ptr<KrylovSolver> make_krylov(Level& level, bool singular, const BottomOptions& options,
                                          Preconditioner* M) {
    if (!M) return std::make_unique<PlainKrylov>(level, singular, options);
    if (!accepts_preconditioner(bottom_method(options.solver)) || options.scaling != Scaling::none ||
        (options.solver == "ca_bicgstab" &&
         (options.basis != Basis::monomial || options.powers == Powers::matrix_powers)))
        throw std::invalid_argument(options.solver + ": no such preconditioned method");
    return std::make_unique<PreconditionedKrylov>(level, singular, options, *M);
}

std::unique_ptr<BottomSolver> make_bottom(Hierarchy& hierarchy, const BottomOptions& bottom,
                                          const MultigridOptions& multigrid) {
    if (BottomGrid* const grid = hierarchy.bottom_grid())
        return std::make_unique<MovedBottom>(hierarchy.bottom(), *grid, hierarchy.singular(), bottom,
                                             multigrid);
    return make_solver_on(hierarchy.bottom(), hierarchy.singular(), bottom, multigrid);
}

}  // namespace keel
