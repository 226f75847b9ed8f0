#include "solvers/multigrid/bottom/level_krylov.hpp"

#include <algorithm>

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
    return {level.deep_ghosts.get(), level.deep_layers, options.powers == Powers::fused_matrix_powers};
}

std::unique_ptr<LinearSystem> system_of(Level& level, bool singular, const BottomOptions& options,
                                        DiagonalScaling scaling, const DeepGhosts& deep) {
    auto system = std::make_unique<GridSystem>(
        level.bottom_operations, *level.ghosts, *level.reduction, level.L, scaling,
        static_cast<std::size_t>(vectors_at_once(options)), deep, singular);
    if (method_named(options.solver).reads("splitting"))
        system->prepare_split(static_cast<std::size_t>(options.block), options.splitting);
    return system;
}

}  // namespace

std::unique_ptr<BottomSolver> make_krylov(Level& level, bool singular, const BottomOptions& options,
                                          Preconditioner* M) {
    if (M)
        return std::make_unique<BottomSolver>(system_of(level, singular, options, DiagonalScaling::none, {}),
                                              options, *M);
    const DiagonalScaling scaling = scaling_of(options);
    return std::make_unique<BottomSolver>(
        system_of(level, singular, options, scaling, deep_ghosts_of(level, options)), options,
        [&level, scaling] { return spectrum_of(level, scaling); });
}

}  // namespace keel
