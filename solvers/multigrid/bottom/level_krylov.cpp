#include "solvers/multigrid/bottom/level_krylov.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/check.hpp"
#include "solvers/krylov/methods.hpp"
#include "solvers/krylov/preconditioned_krylov.hpp"
#include "solvers/krylov/stationary/spectrum_estimate.hpp"
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
    return {level.deep_ghosts.get(), level.deep_layers, options.powers_passes == PowersPasses::fused};
}

class PlainKrylov : public KrylovSolver {
  public:
    PlainKrylov(Level& level, bool singular, const BottomOptions& options)
        : level_(level),
          options_(options),
          scaling_(scaling_of(options)),
          stop_{options.tolerance, options.max_iterations, options.max_restarts},
          system_(level.bottom_operations, *level.ghosts, *level.reduction, level.L, scaling_of(options),
                  static_cast<std::size_t>(vectors_at_once(options)), deep_ghosts_of(level, options),
                  singular),
          spectrum_(chosen_spectrum(options, spectrum_of(level, scaling_of(options)))),
          solver_(system_, make_method(options, system_, spectrum_),
                  make_estimate(system_, nullptr, options)),
          y_(system_.make_vector()),
          b_(system_.make_vector()) {}

    void update() override {
        system_.update();
        spectrum_ = chosen_spectrum(options_, spectrum_of(level_, scaling_));
        solver_.update(spectrum_);
    }

    Report solve(Field u, Field f) override {
        system_.scale_right_side(b_, f);
        Report report = solver_.solve(y_, b_, stop_);
        system_.unscale_solution(u, y_);
        if (!report.spectrum) report.spectrum = spectrum_;
        return report;
    }

  private:
    Level& level_;
    BottomOptions options_;
    DiagonalScaling scaling_;
    Stop stop_;
    GridSystem system_;
    Spectrum spectrum_;
    Solver solver_;
    Field y_, b_;
};

}  // namespace

int krylov_fields(const BottomOptions& options, bool preconditioned) {
    const Method& method = method_named(options.solver);
    const int of_method = static_cast<int>(method.vectors.of(options));
    // The residual and the best iterate.
    const int of_solver = 2 + (estimates(options) ? SpectrumEstimate::vectors(preconditioned) : 0);
    if (!preconditioned)  // y, b
        return of_method + of_solver + 2 + GridSystem::fields(scaling_of(options), vectors_at_once(options));
    if (method.preconditioning == Preconditioning::right)  // y and M x
        return of_method + of_solver + 1 + vectors_at_once(options);
    const int of_norm = options.norm == Norm::natural ? 1 : 0;
    return of_method + of_solver + of_norm + static_cast<int>(method.preconditioned_vectors.of(options));
}

std::unique_ptr<KrylovSolver> make_krylov(Level& level, bool singular, const BottomOptions& options,
                                          Preconditioner* M) {
    if (!M) return std::make_unique<PlainKrylov>(level, singular, options);
    return make_preconditioned_krylov(
        std::make_unique<GridSystem>(
            level.bottom_operations, *level.ghosts, *level.reduction, level.L, DiagonalScaling::none,
            static_cast<std::size_t>(vectors_at_once(options)), DeepGhosts(), singular),
        options, *M);
}

}  // namespace keel
