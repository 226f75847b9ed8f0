#include "solvers/multigrid/redistribution/level_redistribution.hpp"

#include <span>

namespace keel {
namespace {

void run(Redistribution& redistribution, Field from, Field to) {
    redistribution.run(std::span(&from, 1), std::span(&to, 1));
}

}  // namespace

LevelRedistribution::LevelRedistribution(const LevelSite& site, const Agglomeration& agglomeration,
                                         Level& before, Level* after, const HierarchyOptions& options)
    : before_(before), after_(after) {
    const LevelSchemes schemes = options.schemes_of(site.number);
    Operations* const here = &before.operations;
    Operations* const away = after ? &after->operations : nullptr;
    const auto made = [&](int tag, Way way, const Region& cells) {
        const BoxPattern pattern = agglomeration.pattern(way, static_cast<int>(cells.cells()));
        const bool there = way == Way::there;
        return std::make_unique<Redistribution>(
            there ? Redistribution::Ends{here, away} : Redistribution::Ends{away, here}, site.comm.rank(),
            pattern, agglomeration.before, cells,
            make_plan(pattern, site.topology, there ? schemes.there : schemes.back, site.comm.rank()),
            options.exchange, site.transport(tag));
    };
    const Region cells = agglomeration.before.box_cells();
    gather_ = made(4, Way::there, cells);
    scatter_ = made(5, Way::back, cells);
    if (before.u.precision() == Precision::fp32) return;
    // The upper faces of a box lie in its first layer of ghosts.
    gather_coefficients_ = made(6, Way::there, {{}, cells.size + agglomeration.before.layers(1)});
}

void LevelRedistribution::gather_rhs() {
    told_(Way::there);
    run(*gather_, before_.f, after_ ? after_->f : Field());
}

void LevelRedistribution::scatter_correction() {
    told_(Way::back);
    run(*scatter_, after_ ? after_->u : Field(), before_.u);
}

void LevelRedistribution::gather_coefficient(Field from, Field to) {
    run(*gather_coefficients_, from, to);
}

}  // namespace keel
