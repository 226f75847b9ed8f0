#include "solvers/multigrid/level.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "kernels/check.hpp"

namespace keel {

int HierarchyOptions::fused_on(int width) const {
    return level_rule().halves(width) && width >= fused_width ? fused : 0;
}

int HierarchyOptions::fused_layers_on(int width) const {
    const int half_sweeps = fused_on(width);
    return half_sweeps > 0 ? std::min(half_sweeps + 1, width) : 0;
}

bool HierarchyOptions::one_colour_on(const Layout& layout) const {
    return one_colour && level_rule().halves(layout.width()) && layout.colours_alternate();
}

LevelSchemes HierarchyOptions::schemes_of(int level) const {
    if (!schemes.empty()) return schemes.at(static_cast<std::size_t>(level));
    const SchemeOptions of_boxes = without_axes(scheme);
    return {
        .ghosts = scheme, .all_ghosts = scheme, .deep_ghosts = scheme, .there = of_boxes, .back = of_boxes};
}

namespace {

// Levels keep their boxes apart from the first one on whose boxes move: in a block the upper faces that a
// box brings along would fall on other boxes' cells.
Storage storage_of(std::span<const LevelDistribution> down_to, const HierarchyOptions& options) {
    const bool apart = std::ranges::any_of(
        down_to, [](const LevelDistribution& at) { return at.agglomeration.has_value(); });
    return apart ? Storage::boxes : options.storage;
}

}  // namespace

int LevelPlan::ghost_layers(const HierarchyOptions& options) const {
    int deepest = options.ghost_depth;
    for (const auto* const some : {&all_ghosts, &deep_ghosts})
        if (*some) deepest = std::max(deepest, (*some)->layers);
    return deepest;
}

LevelPlans plans_of_level(std::span<const LevelDistribution> all, int number, Precision precision,
                          const HierarchyOptions& options) {
    const auto n = static_cast<std::size_t>(number);
    const LevelDistribution& at = all[n];
    const bool single = precision == Precision::fp32;
    const bool in_cycles = options.mixed == single;
    const int width = at.layout.width();
    const LevelSchemes schemes = options.schemes_of(number);
    const bool one_colour = options.one_colour_on(at.layout);
    const bool has_powers = !single && !options.level_rule().halves(width);

    LevelPlans plans{{.number = number,
                      .layout = at.layout,
                      .precision = precision,
                      .storage = storage_of(all.first(n + 1), options),
                      .passes_on = single && n + 1 == all.size(),
                      .fused = in_cycles ? options.fused_on(width) : 0},
                     {}};
    LevelPlan& level = plans.level;
    if (!level.passes_on)
        level.ghosts = {options.ghost_depth, options.neighbours, schemes.ghosts, one_colour};
    const int powers = has_powers ? options.bottom_ghosts : 0;
    const int deep = level.fused > 0 ? options.fused_layers_on(width) : powers;
    if (deep > 0) level.deep_ghosts = {deep, Neighbours::all, schemes.deep_ghosts, one_colour};
    if (at.agglomeration)
        plans.before = LevelPlan{.number = number,
                                 .layout = at.agglomeration->before,
                                 .precision = precision,
                                 .storage = storage_of(all.first(n), options),
                                 .passes_on = true};
    LevelPlan& interpolated = plans.before ? *plans.before : level;
    if (options.all_ghosts && number > 0 && in_cycles)
        interpolated.all_ghosts = {1, Neighbours::all, schemes.all_ghosts};
    return plans;
}

std::unique_ptr<Level> make_level(const LevelSite& site, const LevelPlan& plan,
                                  const HierarchyOptions& options) {
    const Layout& layout = plan.layout;
    const bool single = plan.precision == Precision::fp32;
    const int layers = plan.ghost_layers(options);
    auto operations = single ? site.backend.make_cycle_operations(layout, layers, plan.storage, options.faces)
                             : site.backend.make_operations(layout, layers, plan.storage);
    check(operations != nullptr, "the backend works in the precision that is asked for");
    auto made = std::make_unique<Level>(layout, std::move(operations), site.ledger, site.number);
    Level& level = *made;
    Operations& make = *level.plain;
    level.u = make.make_field();
    level.f = make.make_field();
    if (!plan.passes_on) {
        level.r = make.make_field();
        level.rounds_faces = single && options.faces == Precision::fp16;
        for (std::size_t d = 0; d < layout.dimensions() && !level.rounds_faces; ++d)
            level.L.faces(d) = make.make_field();
        level.L.inverse_diagonal = make.make_field();
        make.fill(level.L.inverse_diagonal, 1.0);  // outside the domain, where nothing else writes
    }
    Meanwhile meanwhile;
    if (!single && !plan.passes_on) {
        level.reduction = make_reduction(site.comm, site.topology, layout, options.deterministic,
                                         options.all_reduce, &site.ledger, site.number);
        // Who waits for ghosts books all of that time.
        meanwhile = [plain = level.reduction.get()] { return plain->progress_unbooked(); };
    }

    const auto exchange = [&](int tag, const std::optional<PlannedGhosts>& ghosts) {
        if (!ghosts) return std::unique_ptr<Exchange>();
        const GhostPattern pattern =
            ghost_pattern(layout, ghosts->layers, ghosts->neighbours, ghosts->scheme);
        ExchangeOptions how = options.exchange;
        how.one_colour = ghosts->one_colour;
        return make_exchange(level.operations, pattern,
                             make_plan(pattern, site.topology, ghosts->scheme, site.comm.rank()), how,
                             site.transport(tag, meanwhile));
    };
    level.ghosts = exchange(0, plan.ghosts);
    level.outside = make.make_items(std::span<const BoundaryItem>(
        boundary_ghosts(layout, plan.all_ghosts ? plan.all_ghosts->layers : 1)));
    level.all_ghosts = exchange(1, plan.all_ghosts);
    level.deep_ghosts = exchange(2, plan.deep_ghosts);
    level.deep_layers = plan.deep_ghosts ? plan.deep_ghosts->layers : 0;
    level.fused = plan.fused;
    if (options.keeps_ghosts && level.ghosts && level.fused == 0)
        if (const auto copies = level.ghosts->copies_alone()) level.keeps_ghosts = make.keep_ghosts(*copies);
    return made;
}

void deepen(Level& level) {
    Operations& make = *level.plain;
    if (!level.faces_outside) {
        level.faces_outside.emplace();
        for (std::size_t d = 0; d < level.layout.dimensions(); ++d) {
            std::vector<BoundaryItem> on_boundary;
            for (BoundaryItem item : boundary_ghosts(level.layout)) {
                if (item.outward[d] == 0) continue;
                if (item.outward[d] < 0) item.cells.lo[d] += 1;  // face i is the lower one of cell i
                on_boundary.push_back(item);
            }
            (*level.faces_outside)[d] = make.make_items(std::span<const BoundaryItem>(on_boundary));
        }
    }
    const Stencil L = level.unrounded();
    for (std::size_t d = 0; d < level.layout.dimensions(); ++d) {
        make.fill_boundary(L.faces(d), (*level.faces_outside)[d], {0.0, 0.0, 0.0});
        level.deep_ghosts->run(L.faces(d));
    }
    level.deep_ghosts->run(L.inverse_diagonal);
}

void round_faces(Level& level) {
    level.plain->round_faces(level.L, level.unrounded(), std::max(level.deep_layers, 1));
    for (const Field lent : {level.u, level.f, level.r}) level.plain->fill(lent, 0.0);
}

void form_residual(Level& level, Field r) {
    level.ghosts->run(level.u,
                      [&](Part part) { level.operations.residual(r, level.L.on(part), level.u, level.f); });
}

double max_norm(Level& level, Field u) {
    double norm = 0;
    level.operations.max_norm(u, norm);
    return level.reduction->max(norm);
}

namespace {

// All ghosts of u, outside the domain by its boundary conditions.
void fill_all_ghosts(Level& coarse) {
    coarse.all_ghosts->run(coarse.u);
    const auto sign = [](Boundary kind) { return kind == Boundary::dirichlet ? -1.0 : 1.0; };
    MirrorFactors factor;
    for (std::size_t d = 0; d < 3; ++d) {
        const Sides<Boundary> sides = coarse.layout.boundaries()[d];
        factor[d] = {sign(sides.low), sign(sides.high)};
    }
    if (coarse.outside.count > 0) coarse.operations.fill_boundary(coarse.u, coarse.outside, factor);
}

}  // namespace

void interpolate_add(Level& fine, Level& coarse, Interpolation interpolation, std::optional<Colour> colour) {
    if (interpolation != Interpolation::constant) fill_all_ghosts(coarse);
    fine.operations.interpolate_add(fine.u, coarse.u, interpolation, colour);
}

void share_right_hand_side(Level& level) {
    if (level.fused > 0) level.deep_ghosts->run(level.f);
}

}  // namespace keel
