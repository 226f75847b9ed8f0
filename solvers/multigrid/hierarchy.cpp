#include "solvers/multigrid/hierarchy.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/check.hpp"

namespace keel {

namespace {

// The largest sum of magnitudes in a row of L on this rank. With c the faces that have a cell beyond, the sum
// is D + SUM c = 2 D - L 1. Uses the level's f and r, and leaves zeros.
double gershgorin_bound(Level& level) {
    Operations& make = *level.plain;
    make.fill(level.f, 1.0);
    if (level.outside.count > 0) make.fill_boundary(level.f, level.outside, {0.0, 0.0, 0.0});
    make.apply(level.r, level.L, level.f);
    make.axpby(level.r, 2, level.L.diagonal, -1, level.r);
    double bound = 0;
    make.max_norm(level.r, bound);
    make.fill(level.f, 0.0);
    make.fill(level.r, 0.0);
    return bound;
}

}  // namespace

std::vector<int> level_widths(int box, int bottom_box) {
    std::vector<int> widths{box};
    while (widths.back() > bottom_box && widths.back() % 2 == 0) widths.push_back(widths.back() / 2);
    check_equal(widths.back(), bottom_box, "halving the box must reach the bottom box");
    return widths;
}

Hierarchy::Hierarchy(const Communicator& comm, const Topology& topology, const Backend& backend,
                     const Layout& finest, const OperatorFormulas& formulas, const HierarchyOptions& options,
                     Ledger& ledger)
    : singular_(formulas.singular) {
    Layout layout = finest;
    const auto site = [&](int number) {
        return LevelSite{.comm = comm,
                         .topology = topology,
                         .backend = backend,
                         .ledger = ledger,
                         .number = number,
                         .first_tag = number * LevelSite::tags_per_level};
    };
    const auto widths = level_widths(finest.width(), options.bottom_box);
    const bool moved = options.bottom_place != BottomPlace::distributed;
    for (const int width : widths) {
        if (width < layout.width()) layout = layout.coarsened();
        const int number = levels();
        const int fused = options.mixed ? 0 : options.fused_on(width);
        const int of_powers = width == options.bottom_box && !moved ? options.bottom_ghosts : 0;
        const bool interpolates = options.all_ghosts && !options.mixed && number > 0;
        levels_.push_back(make_level(site(number), layout, {interpolates, std::max(fused, of_powers)},
                                     options.schemes_of(number), options));
        levels_.back()->fused = fused;
    }
    for (int number = 0; options.mixed && number < levels(); ++number) {
        const int fused = options.fused_on(level(number).layout.width());
        LevelSite here = site(number);
        here.first_tag += levels() * LevelSite::tags_per_level;
        single_.push_back(make_level(here, level(number).layout,
                                     {.all_ghosts = options.all_ghosts && number > 0,
                                      .deep_ghosts = fused,
                                      .precision = Precision::fp32,
                                      .hands_on = number + 1 == levels()},
                                     options.schemes_of(number), options));
        single_.back()->fused = fused;
    }
    build_operators(formulas, comm);
    if (moved) bottom_grid_ = std::make_unique<BottomGrid>(site(levels() - 1), bottom(), options);
    deepen_levels();
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
    for (int l = 0; l + 1 < levels() && mixed(); ++l) {
        const Level& from = level(l);
        Level& to = *single_[static_cast<std::size_t>(l)];
        // The upper faces of a box lie in its first layer of ghosts.
        for (std::size_t d = 0; d < from.layout.dimensions(); ++d)
            to.plain->convert(to.L.faces(d).with_ghosts(1), from.L.faces(d), single_scale_);
        to.plain->convert(to.L.diagonal, from.L.diagonal, single_scale_);
        to.plain->convert(to.L.inverse_diagonal, from.L.inverse_diagonal, 1 / single_scale_);
        to.jacobi_bound = from.jacobi_bound;
    }
}

void Hierarchy::deepen_levels() {
    convert_operators();
    for (const auto* const levels : {&levels_, &single_})
        for (const auto& level : *levels)
            if (level->fused > 0) deepen(*level);
    Level* solved = bottom_grid_ ? bottom_grid_->level() : &bottom();
    if (solved != nullptr && solved->deep_ghosts && solved->fused == 0) deepen(*solved);
}

void Hierarchy::build_operators(const OperatorFormulas& formulas, const Communicator& comm) {
    for (int l = 0; l < levels(); ++l) {
        Level& here = level(l);
        for (std::size_t d = 0; d < here.layout.dimensions(); ++d) {
            if (l == 0) {
                Region faces = here.layout.box_cells();
                faces.size[d] += 1;
                here.plain->assign(here.L.faces(d), faces, formulas.face[d]);
            } else {  // c has 1/h^2 in it, and h doubles
                level(l - 1).plain->restrict_faces(here.L.faces(d), level(l - 1).L.faces(d),
                                                   static_cast<int>(d), 0.25);
            }
        }
        if (l == 0) here.plain->assign(here.L.diagonal, here.layout.box_cells(), formulas.a_alpha);
        // The coarse a alpha must be taken before the faces are added to the diagonal.
        if (l + 1 < levels()) here.plain->restrict_to(level(l + 1).L.diagonal, here.L.diagonal);
        here.plain->complete_diagonal(here.L);
        here.gershgorin_bound = comm.max(gershgorin_bound(here));
        here.jacobi_bound = comm.max(here.plain->jacobi_bound(here.L));
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
