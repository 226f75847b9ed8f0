#include "miniapp/setup/grid_setup.hpp"

#include <algorithm>

#include "kernels/backends/registry.hpp"
#include "miniapp/setup/problem/shape.hpp"
#include "solvers/multigrid/smoothers/smoother.hpp"

namespace keel {

int coarsest_box(const Parameters& p, const GridUse& use) {
    return use.coarsens ? p.multigrid.bottom_box : p.problem.box;
}

bool interpolates_linearly(const MultigridOptions& multigrid) {
    return multigrid.cycle == Cycle::f || multigrid.interpolation == Interpolation::linear;
}

namespace {

// Whether levels are smoothed by a row of smoothers(); full approximation smooths in its own way.
bool smooths(const GridUse& use) {
    return use.krylov != KrylovLevel::none && !use.full_approximation;
}

bool wants_one_colour(const MultigridOptions& multigrid, const GridUse& use) {
    return smooths(use) && multigrid.ghost_colours == GhostColours::needed &&
           smoother_named(multigrid.smoother).read != nullptr;
}

// The narrowest boxes whose half sweeps are one pass; 0: none are. Narrower ones are mostly ghosts
// (results/speed), and the verdict of one F-cycle counts cells that are relaxed twice.
int narrowest_fused(const Parameters& p, const GridUse& use) {
    if (!smooths(use) || p.multigrid.reference_path) return 0;
    if (p.multigrid.fused_box > 0) return p.multigrid.fused_box;
    const bool gains = backend_info(p.run.backend).features.single_pass && !use.full_multigrid;
    return gains ? 32 : 0;
}

}  // namespace

int bottom_grid(const Parameters& p, const GridUse& use) {
    return use.coarsens ? p.multigrid.bottom_grid : BottomRanks::owners;
}

std::int64_t agglomerate(const Parameters& p, const GridUse& use) {
    return use.coarsens && use.krylov != KrylovLevel::none ? p.multigrid.agglomerate : 0;
}

PowersNeed powers_need(const GridUse& use, int width) {
    PowersNeed most;
    for (const NamedSolver& solver : use.solvers) {
        const PowersNeed need = powers_need(solver.options, width);
        most = {std::max(most.layers, need.layers), std::max(most.at_once, need.at_once)};
    }
    return most;
}

std::vector<LevelShape> GridSetup::shapes() const {
    return level_shapes(domain.around(), domain.dimensions(), problem.box, ranks, hierarchy.level_rule());
}

std::vector<LevelDistribution> GridSetup::places(const Layout& finest) const {
    return level_distributions(finest, hierarchy.level_rule());
}

int GridSetup::levels() const {
    return static_cast<int>(shapes().size());
}

bool GridSetup::merges() const {
    return std::ranges::any_of(shapes(), [](const LevelShape& level) { return level.merged > 1; });
}

bool GridSetup::observes_order() const {
    return problem.rhs == Rhs::manufactured && levels() > 2;
}

bool GridSetup::solves_on(int level) const {
    return level == 0 || (level == 1 && observes_order());
}

int GridSetup::most_boxes_of_a_rank() const {
    return (domain.count() + ranks - 1) / ranks;
}

Layout GridSetup::finest() const {
    return {domain, problem.box, place(domain, ranks, problem.placement), rank};
}

GridSetup resolve_grids(const Deck& deck, const Resolved& resolved, const GridUse& use) {
    const Parameters& p = deck.parameters;
    const int bottom_box = coarsest_box(p, use);
    GridSetup grids{.problem = p.problem,
                    .multigrid = p.multigrid,
                    .use = use,
                    .domain = domain_of(p.problem, resolved.ranks),
                    .ranks = resolved.ranks,
                    .rank = resolved.rank,
                    .hierarchy = {},
                    .powers = {}};
    grids.hierarchy = {.bottom_box = bottom_box,
                       .agglomerate = agglomerate(p, use),
                       .bottom_grid = bottom_grid(p, use),
                       .ghost_depth = p.comm.ghost_depth,
                       .storage = use.krylov == KrylovLevel::none ? Storage::boxes : p.problem.storage,
                       .neighbours = p.comm.neighbours,
                       .all_ghosts = interpolates_linearly(p.multigrid),
                       .keeps_ghosts = !p.multigrid.reference_path,
                       .ghosts = p.comm.precision,
                       .scheme = resolved.comm.scheme,
                       .exchange = resolved.comm.exchange,
                       .one_colour = wants_one_colour(p.multigrid, use),
                       .deterministic = resolved.deterministic,
                       .all_reduce = resolved.comm.all_reduce};
    grids.powers = powers_need(use, grids.shapes().back().width);
    grids.hierarchy.bottom_ghosts = grids.powers.layers;
    grids.multigrid.amg = p.amg;
    if (const int width = narrowest_fused(p, use); width > 0) {
        grids.hierarchy.fused = fusible_half_sweeps(p.multigrid);
        grids.hierarchy.fused_width = std::max(grids.hierarchy.fused, width);
    }
    if (backend_info(p.run.backend).features.device_memory) grids.gpu = p.run.gpu_sync;
    grids.hierarchy.mixed = use.mixes && p.multigrid.precision != CyclePrecision::doubled;
    if (p.multigrid.precision == CyclePrecision::mixed_half) grids.hierarchy.faces = Precision::fp16;
    return grids;
}

}  // namespace keel
