#include "solvers/multigrid/hierarchy.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/check.hpp"
#include "solvers/multigrid/algebraic/level_home.hpp"

namespace keel {

namespace {

// The largest sum of magnitudes in a row of L on this rank. With c the faces that have a cell beyond, the sum
// is D + SUM c = 2 D - L 1. Uses the level's f and r, and leaves zeros.
double gershgorin_bound(Level& level) {
    Operations& make = *level.plain;
    make.fill(level.f, 1.0);
    if (level.outside.count > 0) make.fill_boundary(level.f, level.outside, {0.0, 0.0, 0.0});
    make.apply(level.r, level.L, level.f);
    make.divide(level.f, level.f, level.L.inverse_diagonal);
    make.axpby(level.r, 2, level.f, -1, level.r);
    double bound = 0;
    make.max_norm(level.r, bound);
    make.fill(level.f, 0.0);
    make.fill(level.r, 0.0);
    return bound;
}

}  // namespace

Hierarchy::Hierarchy(const Communicator& comm, const Topology& topology, const Backend& backend,
                     const Layout& finest, const OperatorFormulas& formulas, const HierarchyOptions& options,
                     Ledger& ledger)
    : singular_(formulas.singular) {
    const auto site = [&](int number) {
        const Crew* const crew = crew_of(number);
        return LevelSite{.comm = crew ? crew->comm : comm,
                         .topology = crew ? crew->topology : topology,
                         .backend = backend,
                         .ledger = ledger,
                         .number = number,
                         .first_tag = number * LevelSite::tags_per_level};
    };
    make_levels(site, finest, options);
    build_operators(formulas, comm);
    if (options.bottom_place != BottomPlace::distributed) {
        check(options.agglomerate == 0, "a bottom grid moves where no boxes are merged");
        bottom_grid_ = std::make_unique<BottomGrid>(site(levels() - 1), bottom(), options);
    } else if (has(levels() - 1)) {
        bottom().home = home_at(site(levels() - 1), options);
    }
    deepen_levels();
}

const Hierarchy::Crew* Hierarchy::crew_of(int l) const {
    while (l > 0 && !crews_[static_cast<std::size_t>(l)]) --l;
    return crews_[static_cast<std::size_t>(l)].get();
}

void Hierarchy::make_levels(const std::function<LevelSite(int)>& site, const Layout& finest,
                            const HierarchyOptions& options) {
    const std::vector<LevelPlace> places = level_places(finest, options.level_rule());
    const bool moved = options.bottom_place != BottomPlace::distributed;
    // In a block the upper faces that a box brings along would fall on other boxes' cells.
    HierarchyOptions stored = options;
    for (const LevelPlace& place : places) {
        const int number = levels();
        const int width = place.layout.width();
        const bool above = number == 0 || has(number - 1);
        const bool merges = place.merge && above;
        crews_.emplace_back();
        handovers_.emplace_back();
        single_handovers_.emplace_back();
        const bool interpolates = options.all_ghosts && number > 0;
        const LevelNeeds landing{.all_ghosts = interpolates, .hands_on = true};
        const HierarchyOptions before = stored;
        std::optional<LevelSite> from;
        if (merges) {
            from.emplace(site(number - 1));
            from->number = number;
            from->first_tag += LevelSite::tags_per_level;
            crews_.back() = std::make_unique<Crew>(
                Crew{from->comm.split(place.here() ? 0 : 1), from->topology.among(place.merge->ranks())});
        }
        if (place.merge) stored.storage = Storage::boxes;
        const bool interpolated_here = interpolates && !place.merge;
        levels_.emplace_back();
        if (place.here()) {
            const int fused = options.mixed ? 0 : options.fused_on(width);
            const int of_powers = width == options.bottom_box && !moved ? options.bottom_ghosts : 0;
            levels_.back() = make_level(
                site(number), place.layout,
                {interpolated_here && !options.mixed, fused > 0 ? options.fused_layers_on(width) : of_powers},
                options.schemes_of(number), stored);
            levels_.back()->fused = fused;
        }
        if (merges) {
            LevelNeeds needs = landing;
            needs.all_ghosts = needs.all_ghosts && !options.mixed;
            handovers_.back() =
                std::make_unique<Handover>(*from, *place.merge, levels_.back().get(), needs, before);
        }
        if (!options.mixed) continue;
        const int of_single = static_cast<int>(places.size()) * LevelSite::tags_per_level;
        single_.emplace_back();
        if (place.here()) {
            const int fused = options.fused_on(width);
            LevelSite here = site(number);
            here.first_tag += of_single;
            single_.back() = make_level(here, place.layout,
                                        {.all_ghosts = interpolated_here,
                                         .deep_ghosts = options.fused_layers_on(width),
                                         .precision = Precision::fp32,
                                         .hands_on = levels() == static_cast<int>(places.size())},
                                        options.schemes_of(number), stored);
            single_.back()->fused = fused;
        }
        if (merges) {
            LevelNeeds needs = landing;
            needs.precision = Precision::fp32;
            from->first_tag += of_single;
            single_handovers_.back() =
                std::make_unique<Handover>(*from, *place.merge, single_.back().get(), needs, before);
        }
    }
}

void Hierarchy::update(const OperatorFormulas& formulas, const Communicator& comm) {
    singular_ = formulas.singular;
    build_operators(formulas, comm);
    if (bottom_grid_) bottom_grid_->update();
    deepen_levels();
}

// The power of two that makes the largest sum of magnitudes in a row about 1: what the finest operator makes of a u is then
// no larger than it, whatever the units, and the scaling rounds nothing.
void Hierarchy::convert_operators() {
    const double bound = level(0).gershgorin_bound;
    single_scale_ = bound > 0 && std::isfinite(bound) ? std::exp2(-std::ilogb(bound)) : 1.0;
    for (int l = 0; l + 1 < levels() && mixed() && has(l); ++l) {
        const Level& from = level(l);
        Level& to = *single_[static_cast<std::size_t>(l)];
        // The upper faces of a box lie in its first layer of ghosts.
        for (std::size_t d = 0; d < from.layout.dimensions(); ++d)
            to.plain->convert(to.L.faces(d).with_ghosts(1), from.L.faces(d), single_scale_);
        to.plain->convert(to.L.inverse_diagonal, from.L.inverse_diagonal, 1 / single_scale_);
        to.jacobi_bound = from.jacobi_bound;
    }
}

void Hierarchy::deepen_levels() {
    convert_operators();
    for (const auto* const levels : {&levels_, &single_})
        for (const auto& level : *levels)
            if (level && level->fused > 0) deepen(*level);
    Level* solved = bottom_grid_ ? bottom_grid_->level() : levels_.back().get();
    if (solved != nullptr && solved->deep_ghosts && solved->fused == 0) deepen(*solved);
}

// Faces, and a alpha where 1 / D will be, of the level below l.
void Hierarchy::restrict_operator(int l) {
    Operations& fine = *level(l).plain;
    const Stencil& from = level(l).L;
    Handover* const handover = handovers_[static_cast<std::size_t>(l + 1)].get();
    const Stencil to = has(l + 1) ? level(l + 1).L : Stencil();
    const auto restricted = [&](const Field& there, const auto& restrict) {
        restrict(handover ? handover->landing().u : there);
        if (handover) handover->bring(there);
    };
    for (std::size_t d = 0; d < level(l).layout.dimensions(); ++d)  // c has 1/h^2 in it, and h doubles
        restricted(to.faces(d), [&](Field coarse) {
            fine.restrict_faces(coarse, from.faces(d), static_cast<int>(d), 0.25);
        });
    restricted(to.inverse_diagonal, [&](Field coarse) { fine.restrict_to(coarse, from.inverse_diagonal); });
}

void Hierarchy::build_operators(const OperatorFormulas& formulas, const Communicator& comm) {
    for (int l = 0; l < levels() && has(l); ++l) {
        Level& here = level(l);
        if (l == 0) {
            for (std::size_t d = 0; d < here.layout.dimensions(); ++d) {
                Region faces = here.layout.box_cells();
                faces.size[d] += 1;
                here.plain->assign(here.L.faces(d), faces, formulas.face[d]);
            }
            here.plain->assign(here.L.inverse_diagonal, here.layout.box_cells(), formulas.a_alpha);
        }
        // The coarse a alpha must be taken before it becomes 1 / D.
        if (l + 1 < levels()) restrict_operator(l);
        here.plain->complete_diagonal(here.L);
        const Communicator& ranks = crew_of(l) ? crew_of(l)->comm : comm;
        here.gershgorin_bound = ranks.max(gershgorin_bound(here));
        here.jacobi_bound = ranks.max(here.plain->jacobi_bound(here.L));
    }
}

double remove_mean(Operations& operations, Reduction& reduction, Field u) {
    std::vector<double> parts(static_cast<std::size_t>(operations.layout().local_count()));
    double total = 0;
    operations.totals(u, parts);
    reduction.sum(parts, std::span(&total, 1));
    const double mean = total / static_cast<double>(operations.layout().cell_count());
    operations.shift(u, -mean);
    return mean;
}

double make_solvable(Level& level) {
    const auto norm_of_f = [&] {
        double norm = 0;
        level.operations.max_norm(level.f, norm);
        return level.reduction->max(norm);
    };
    const double with_mean = norm_of_f();
    const double mean = remove_mean(level.operations, *level.reduction, level.f);
    if (norm_of_f() < 1e-14 * with_mean) level.operations.fill(level.f, 0.0);
    return with_mean > 0 ? mean / with_mean : 0.0;
}

}  // namespace keel
