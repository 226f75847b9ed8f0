#include "solvers/multigrid/hierarchy.hpp"

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
    : singular_(formulas.singular), cycles_send_(options.ghosts) {
    const auto site = [&](int number) {
        const LevelComm* const ranks = comm_of(number);
        return LevelSite{.comm = ranks ? ranks->comm : comm,
                         .topology = ranks ? ranks->topology : topology,
                         .backend = backend,
                         .ledger = ledger,
                         .number = number,
                         .first_tag = number * LevelSite::tags_per_level};
    };
    make_levels(site, finest, options);
    build_operators(formulas, comm);
    if (has(levels() - 1)) bottom().home = home_at(site(levels() - 1), options);
    deepen_levels();
}

void Hierarchy::send_in(Precision precision) {
    for (int l = 0; l < levels(); ++l)
        for (const auto* const some : {&double_.levels, &double_.before}) {
            const auto& level = (*some)[static_cast<std::size_t>(l)];
            if (!level) continue;
            const bool coarsest = l + 1 == levels();
            if (level->all_ghosts) level->all_ghosts->send_in(precision);
            if (level->ghosts && !coarsest) level->ghosts->send_in(precision);
            if (level->deep_ghosts && !coarsest) level->deep_ghosts->send_in(precision);
        }
}

const LevelComm* Hierarchy::comm_of(int l) const {
    while (l > 0 && !comms_[static_cast<std::size_t>(l)]) --l;
    return comms_[static_cast<std::size_t>(l)].get();
}

void Hierarchy::make_levels(const SiteOf& site, const Layout& finest, const HierarchyOptions& options) {
    const std::vector<LevelDistribution> all = level_distributions(finest, options.level_rule());
    const int count = static_cast<int>(all.size());
    for (int number = 0; number < count; ++number) {
        const LevelDistribution& at = all[static_cast<std::size_t>(number)];
        comms_.emplace_back();
        if (at.agglomeration && has(number - 1)) {
            const LevelSite above = site(number - 1);
            const std::vector<int>& ranks = at.agglomeration->ranks;
            const bool copies = at.agglomeration->holders.everyone();
            comms_.back() = std::make_unique<LevelComm>(LevelComm{
                copies ? Communicator::self() : above.comm.among(ranks), above.topology.among(ranks)});
        }
        make_level_in(double_, site, at, plans_of_level(all, number, Precision::fp64, options), 0, options);
        if (options.mixed)
            make_level_in(single_, site, at, plans_of_level(all, number, Precision::fp32, options),
                          count * LevelSite::tags_per_level, options);
    }
}

// Adds a level, and its redistribution if its boxes move. `first_tag` is the first tag of level 0 in this
// precision.
void Hierarchy::make_level_in(Grids& grids, const SiteOf& site, const LevelDistribution& at,
                              const LevelPlans& plans, int first_tag, const HierarchyOptions& options) {
    const int number = plans.level.number;
    const auto at_site = [&](int of_level) {
        LevelSite there = site(of_level);
        there.number = number;
        there.first_tag = first_tag + number * LevelSite::tags_per_level;
        return there;
    };
    auto& level = grids.levels.emplace_back();
    auto& before = grids.before.emplace_back();
    auto& redistribution = grids.redistributions.emplace_back();
    if (at.here()) level = make_level(at_site(number), plans.level, options);
    if (!plans.before || !has(number - 1)) return;
    const LevelSite above = at_site(number - 1);
    before = make_level(above, *plans.before, options);
    redistribution =
        std::make_unique<LevelRedistribution>(above, *at.agglomeration, *before, level.get(), options);
}

void Hierarchy::update(const OperatorFormulas& formulas, const Communicator& comm) {
    singular_ = formulas.singular;
    build_operators(formulas, comm);
    deepen_levels();
}

// The power of two that makes the largest sum of magnitudes in a row about 1: what the finest operator makes
// of a u is then no larger than it, whatever the units, and the scaling rounds nothing.
void Hierarchy::convert_operators() {
    const double bound = level(0).gershgorin_bound;
    single_scale_ = bound > 0 && std::isfinite(bound) ? std::exp2(-std::ilogb(bound)) : 1.0;
    for (int l = 0; l + 1 < levels() && mixed() && has(l); ++l) {
        const Level& from = level(l);
        Level& to = *single_.levels[static_cast<std::size_t>(l)];
        const Stencil L = to.unrounded();
        // The upper faces of a box lie in its first layer of ghosts.
        for (std::size_t d = 0; d < from.layout.dimensions(); ++d)
            to.plain->convert(L.faces(d).with_ghosts(1), from.L.faces(d), single_scale_, Update::replace);
        to.plain->convert(L.inverse_diagonal, from.L.inverse_diagonal, 1 / single_scale_, Update::replace);
        to.jacobi_bound = from.jacobi_bound;
    }
}

void Hierarchy::deepen_levels() {
    convert_operators();
    for (const Grids* const grids : {&double_, &single_})
        for (const auto& level : grids->levels)
            if (level && level->fused > 0) deepen(*level);
    for (const auto& level : single_.levels)
        if (level && level->rounds_faces) round_faces(*level);
    if (!has(levels() - 1)) return;
    if (bottom().deep_ghosts && bottom().fused == 0) deepen(bottom());
}

// Faces, and a alpha where 1 / D will be, of the level below l.
void Hierarchy::restrict_operator(int l) {
    Operations& fine = *level(l).plain;
    const Stencil& from = level(l).L;
    LevelRedistribution* const redistribution =
        double_.redistributions[static_cast<std::size_t>(l + 1)].get();
    const Stencil to = has(l + 1) ? level(l + 1).L : Stencil();
    // A box brings its upper ghosts along, which restriction leaves as they are: `outside` the domain.
    const auto restricted = [&](const Field& there, double outside, const auto& restrict) {
        if (!redistribution) return restrict(there);
        const Level& before = redistribution->before();
        before.plain->fill(before.u, outside);
        restrict(before.u);
        redistribution->gather_coefficient(before.u, there);
    };
    for (std::size_t d = 0; d < level(l).layout.dimensions(); ++d)  // c has 1/h^2 in it, and h doubles
        restricted(to.faces(d), 0.0, [&](Field coarse) {
            fine.restrict_faces(coarse, from.faces(d), static_cast<int>(d), 0.25);
        });
    restricted(to.inverse_diagonal, 1.0,
               [&](Field coarse) { fine.restrict_to(coarse, from.inverse_diagonal); });
}

void Hierarchy::build_operators(const OperatorFormulas& formulas, const Communicator& comm) {
    for (int l = 0; l < levels() && has(l); ++l) {
        Level& here = level(l);
        if (l == 0) {
            for (std::size_t d = 0; d < here.layout.dimensions(); ++d)
                here.plain->assign(here.L.faces(d), here.layout.box_faces(d), formulas.face[d]);
            here.plain->assign(here.L.inverse_diagonal, here.layout.box_cells(), formulas.a_alpha);
        }
        // The coarse a alpha must be taken before it becomes 1 / D.
        if (l + 1 < levels()) restrict_operator(l);
        const double jacobi_bound = here.plain->complete_diagonal(here.L);
        const Communicator& ranks = comm_of(l) ? comm_of(l)->comm : comm;
        here.gershgorin_bound = ranks.max(gershgorin_bound(here));
        here.jacobi_bound = ranks.max(jacobi_bound);
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
    const double with_mean = max_norm(level, level.f);
    const double mean = remove_mean(level.operations, *level.reduction, level.f);
    if (max_norm(level, level.f) < 1e-14 * with_mean) level.operations.fill(level.f, 0.0);
    return with_mean > 0 ? mean / with_mean : 0.0;
}

}  // namespace keel
