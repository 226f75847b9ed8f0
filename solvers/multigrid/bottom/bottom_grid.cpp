#include "solvers/multigrid/bottom/bottom_grid.hpp"

#include <algorithm>

#include "solvers/multigrid/algebraic/level_home.hpp"

namespace keel {

namespace {

Holders solvers_of(const Layout& spread, BottomPlace place, int groups) {
    std::int64_t all = 0;  // ranks
    for (int box = 0; box < spread.box_count(); ++box)
        all = std::max<std::int64_t>(all, spread.owner(box) + 1);
    if (place == BottomPlace::replicate)
        return Holders::everywhere(spread.box_count(), static_cast<int>(all));
    const std::int64_t n = place == BottomPlace::distributed ? all
                           : place == BottomPlace::gather    ? 1
                           : groups > 0                      ? groups
                                                             : (all + 7) / 8;
    std::vector<int> first;  // for each box the first rank of its owner's group
    for (int box = 0; box < spread.box_count(); ++box)
        first.push_back(static_cast<int>((spread.owner(box) * n / all * all + n - 1) / n));
    return Holders(std::move(first));
}

}  // namespace

BottomMove::BottomMove(const Layout& spread, BottomPlace place, int groups)
    : spread_(spread), owners_(Holders::owners_of(spread)), solvers_(solvers_of(spread, place, groups)) {
    if (solvers_.everyone())
        ranks_.push_back(spread.rank());
    else
        for (int box = 0; box < spread.box_count(); ++box) ranks_.push_back(solvers_.ranks_of(box).front());
    sort_distinct(ranks_);
}

std::optional<Layout> BottomMove::layout() const {
    const auto number = [&](int rank) {
        return static_cast<int>(std::ranges::lower_bound(ranks_, rank) - ranks_.begin());
    };
    if (!std::ranges::binary_search(ranks_, spread_.rank())) return {};
    std::vector<int> owners(static_cast<std::size_t>(spread_.box_count()), 0);
    if (!solvers_.everyone())
        for (int box = 0; box < spread_.box_count(); ++box)
            owners[static_cast<std::size_t>(box)] = number(solvers_.ranks_of(box).front());
    return Layout(spread_.domain(), spread_.width(), std::move(owners), number(spread_.rank()));
}

BoxPattern BottomMove::there(int values) const {
    return {owners_, solvers_, values};
}

BoxPattern BottomMove::back(int values) const {
    return {solvers_.everyone() ? owners_ : solvers_, owners_, values};
}

BottomGrid::BottomGrid(const LevelSite& site, Level& spread, const HierarchyOptions& options)
    : spread_(spread) {
    const int rank = site.comm.rank();
    const BottomMove move(spread.layout, options.bottom_place, options.bottom_ranks);
    const auto layout = move.layout();
    const bool replicated = options.bottom_place == BottomPlace::replicate;
    comm_ = replicated ? Communicator::self() : site.comm.split(layout ? 0 : 1);
    topology_ = site.topology.among(move.ranks());
    const LevelSchemes schemes = options.schemes_of(site.number);
    if (layout) {
        const LevelSite here{.comm = *comm_,
                             .topology = topology_,
                             .backend = site.backend,
                             .ledger = site.ledger,
                             .number = site.number,
                             .first_tag = site.first_tag};
        // In a block the upper faces that a box brings along would fall on other boxes' cells.
        HierarchyOptions apart = options;
        apart.storage = Storage::boxes;
        level_ = make_level(here, *layout, {false, options.bottom_ghosts}, schemes, apart);
        level_->home = home_at(here, options);
    }

    const auto redistribution = [&](int tag, const BoxPattern& pattern, bool there, const Region& cells,
                                    const SchemeOptions& scheme) {
        Operations* const solver = level_ ? &level_->operations : nullptr;
        const Redistribution::Ends ends = there ? Redistribution::Ends{&spread.operations, solver}
                                                : Redistribution::Ends{solver, &spread.operations};
        return std::make_unique<Redistribution>(
            ends, rank, pattern, spread.layout, cells, make_plan(pattern, site.topology, scheme, rank),
            options.exchange.wire, site.transport(tag, options.persistent));
    };
    const Region cells = spread.layout.box_cells();
    const auto values = [](const Region& region) { return static_cast<int>(region.cells()); };
    to_ = redistribution(4, move.there(values(cells)), true, cells, schemes.there);
    from_ = redistribution(5, move.back(values(cells)), false, cells, schemes.back);

    // The upper faces of a box lie in its first layer of ghosts.
    const Region with_faces{{}, cells.size + spread.layout.layers(1)};
    coefficients_to_ = redistribution(6, move.there(values(with_faces)), true, with_faces, schemes.there);
    update();
}

void BottomGrid::update() {
    if (level_) {
        level_->gershgorin_bound = spread_.gershgorin_bound;
        level_->jacobi_bound = spread_.jacobi_bound;
    }
    const Stencil& from = spread_.L;
    const Stencil& to = level_ ? level_->L : spread_.L;
    const auto run = [&](const Field& there, const Field& here) {
        coefficients_to_->run(std::span(&there, 1), std::span(&here, 1));
    };
    for (std::size_t d = 0; d < spread_.layout.dimensions(); ++d) run(from.faces(d), to.faces(d));
    run(from.inverse_diagonal, to.inverse_diagonal);
}

}  // namespace keel
