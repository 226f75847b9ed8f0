#include "solvers/multigrid/level_krylov.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "kernels/check.hpp"
#include "solvers/krylov/methods.hpp"
#include "solvers/multigrid/hierarchy.hpp"
#include "solvers/systems/grid_system.hpp"

namespace keel {
namespace {

// Bounds of the eigenvalues of the system that the level makes with this scaling. L is positive
// semi-definite, and the rows of D^-1 L lie about 1.
Spectrum spectrum_of(const Level& level, DiagonalScaling scaling) {
    if (scaling == DiagonalScaling::none) return {0.0, level.gershgorin_bound};
    return {std::max(0.0, 2.0 - level.jacobi_bound), level.jacobi_bound};
}

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
        : stop_{options.tolerance, options.max_iterations, options.max_restarts},
          system_(level.bottom_operations, *level.ghosts, *level.reduction, level.L, scaling_of(options),
                  static_cast<std::size_t>(vectors_at_once(options)), deep_ghosts_of(level, options),
                  singular),
          solver_(system_, make_method(options, system_, spectrum_of(level, scaling_of(options)))),
          y_(system_.make_vector()),
          b_(system_.make_vector()) {}

    Report solve(Field u, Field f) override {
        system_.scale_right_side(b_, f);
        Report report = solver_.solve(y_, b_, stop_);
        system_.unscale_solution(u, y_);
        return report;
    }

  private:
    Stop stop_;
    GridSystem system_;
    Solver solver_;
    Field y_, b_;
};

// Solves L M y = f, or L u = f with a method that has a preconditioned form of its own, where y is u.
class PreconditionedKrylov : public KrylovSolver {
  public:
    PreconditionedKrylov(Level& level, const BottomOptions& options, Preconditioner& M)
        : stop_{options.tolerance, options.max_iterations, options.max_restarts},
          L_(level.bottom_operations, *level.ghosts, *level.reduction, level.L, DiagonalScaling::none,
             static_cast<std::size_t>(vectors_at_once(options))) {
        const Method& method = method_named(options.solver);
        if (method.preconditioning == Preconditioning::symmetric) {
            solver_ = std::make_unique<Solver>(L_, method.make_preconditioned(L_, M, options));
            return;
        }
        LM_.emplace(L_, M, static_cast<std::size_t>(vectors_at_once(options)));
        solver_ = std::make_unique<Solver>(*LM_, make_method(options, *LM_, {}));
        y_ = LM_->make_vector();
    }

    Report solve(Field u, Field f) override {
        Report report = solver_->solve(LM_ ? y_ : u, f, stop_);
        if (LM_) LM_->recover(u, y_);
        return report;
    }

  private:
    Stop stop_;
    GridSystem L_;
    std::optional<RightPreconditioned> LM_;
    std::unique_ptr<Solver> solver_;
    Field y_;
};

}  // namespace

int krylov_fields(const BottomOptions& options, bool preconditioned) {
    const Method& method = method_named(options.solver);
    const int of_method = static_cast<int>(method.vectors.of(options));
    const int of_solver = 2;  // the residual and the best iterate
    if (!preconditioned)      // y, b
        return of_method + of_solver + 2 + GridSystem::fields(scaling_of(options), vectors_at_once(options));
    const int of_system = method.preconditioning == Preconditioning::symmetric ? 0 : vectors_at_once(options);
    return of_method + of_solver + 1 + of_system;  // z, or y and M x
}

std::unique_ptr<KrylovSolver> make_krylov(Level& level, bool singular, const BottomOptions& options,
                                          Preconditioner* M) {
    if (!M) return std::make_unique<PlainKrylov>(level, singular, options);
    const Method& method = method_named(options.solver);
    const bool makes_bases = method.degree.of(options) > 0;
    if (!method.accepts_preconditioner() || options.scaling != Scaling::none ||
        (makes_bases && (options.basis != Basis::monomial || options.powers == Powers::matrix_powers)))
        throw std::invalid_argument(options.solver + ": no such preconditioned method");
    return std::make_unique<PreconditionedKrylov>(level, options, *M);
}

}  // namespace keel
