#include "solvers/multigrid/level.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "kernels/check.hpp"

namespace keel {

int HierarchyOptions::fused_on(int width) const {
    return width > bottom_box && width >= fused_width ? fused : 0;
}

int HierarchyOptions::fused_layers_on(int width) const {
    const int half_sweeps = fused_on(width);
    return half_sweeps > 0 ? std::min(half_sweeps + 1, width) : 0;
}

bool HierarchyOptions::one_colour_on(const Layout& layout) const {
    return one_colour && layout.width() > bottom_box && layout.colours_alternate();
}

LevelSchemes HierarchyOptions::schemes_of(int level) const {
    if (!schemes.empty()) return schemes.at(static_cast<std::size_t>(level));
    const SchemeOptions of_boxes = without_axes(scheme);
    return {
        .ghosts = scheme, .all_ghosts = scheme, .deep_ghosts = scheme, .there = of_boxes, .back = of_boxes};
}

std::unique_ptr<Level> make_level(const LevelSite& site, const Layout& layout, const LevelNeeds& needs,
                                  const LevelSchemes& schemes, const HierarchyOptions& options) {
    const int of_interpolation = needs.all_ghosts ? options.interpolated_ghosts : 1;
    const int layers = std::max({options.ghost_depth, needs.deep_ghosts, of_interpolation});
    const bool single = needs.precision == Precision::fp32;
    auto operations = single ? site.backend.make_cycle_operations(layout, layers, options.storage)
                             : site.backend.make_operations(layout, layers, options.storage);
    check(operations != nullptr, "the backend works in the precision that is asked for");
    auto made = std::make_unique<Level>(layout, std::move(operations), site.ledger, site.number);
    Level& level = *made;
    Operations& make = *level.plain;
    level.u = make.make_field();
    level.f = make.make_field();
    if (!needs.passes_on) {
        level.r = make.make_field();
        level.L = {.x = make.make_field(),
                   .y = make.make_field(),
                   .z = layout.dimensions() == 2 ? Field() : make.make_field(),
                   .inverse_diagonal = make.make_field()};
        make.fill(level.L.inverse_diagonal, 1.0);  // outside the domain, where nothing else writes
    }
    Meanwhile meanwhile;
    if (!single && !needs.passes_on) {
        auto sums =
            make_reduction(site.comm, site.topology, layout, options.deterministic, options.all_reduce);
        // Untimed: who waits for ghosts books all of that time.
        meanwhile = [plain = sums.get()] { return plain->progress(); };
        level.reduction = std::make_unique<TimedReduction>(std::move(sums), site.ledger, site.number);
    }

    const auto exchange = [&](int tag, int depth, Neighbours neighbours, const SchemeOptions& scheme,
                              bool one_colour) {
        const GhostPattern pattern = ghost_pattern(layout, depth, neighbours, scheme);
        ExchangeOptions how = options.exchange;
        how.one_colour = one_colour;
        return make_exchange(level.operations, pattern,
                             make_plan(pattern, site.topology, scheme, site.comm.rank()), how,
                             site.transport(tag, meanwhile));
    };
    const bool one_colour = options.one_colour_on(layout);
    if (!needs.passes_on)
        level.ghosts = exchange(0, options.ghost_depth, options.neighbours, schemes.ghosts, one_colour);
    level.outside = make.make_items(std::span<const BoundaryItem>(boundary_ghosts(layout, of_interpolation)));
    if (needs.all_ghosts)
        level.all_ghosts = exchange(1, of_interpolation, Neighbours::all, schemes.all_ghosts, false);
    if (needs.deep_ghosts > 0) {
        level.deep_ghosts = exchange(2, needs.deep_ghosts, Neighbours::all, schemes.deep_ghosts, one_colour);
        level.deep_layers = needs.deep_ghosts;
    }
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
    for (std::size_t d = 0; d < level.layout.dimensions(); ++d) {
        make.fill_boundary(level.L.faces(d), (*level.faces_outside)[d], {0.0, 0.0, 0.0});
        level.deep_ghosts->run(level.L.faces(d));
    }
    level.deep_ghosts->run(level.L.inverse_diagonal);
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
    if (interpolation == Interpolation::linear) fill_all_ghosts(coarse);
    fine.operations.interpolate_add(fine.u, coarse.u, interpolation, colour);
}

void interpolate_quartic_add(Level& fine, Level& coarse) {
    fill_all_ghosts(coarse);
    fine.operations.interpolate_quartic_add(fine.u, coarse.u);
}

void share_right_hand_side(Level& level) {
    if (level.fused > 0) level.deep_ghosts->run(level.f);
}

}  // namespace keel
