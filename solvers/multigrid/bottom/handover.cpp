#include "solvers/multigrid/bottom/handover.hpp"

#include <span>

namespace keel {

Handover::Handover(const LevelSite& site, const Merge& merge, Level* merged, const LevelNeeds& landing,
                   const HierarchyOptions& options)
    : merged_(merged) {
    const LevelSchemes schemes = options.schemes_of(site.number);
    landing_ = make_level(site, merge.spread(), landing, schemes, options);
    Operations* const here = &landing_->operations;
    Operations* const away = merged ? &merged->operations : nullptr;
    const auto carried = [&](int tag, bool there, const Region& cells) {
        const auto values = static_cast<int>(cells.cells());
        const BoxPattern pattern = there ? merge.there(values) : merge.back(values);
        const SchemeOptions& scheme = there ? schemes.there : schemes.back;
        return std::make_unique<Redistribution>(
            there ? Redistribution::Ends{here, away} : Redistribution::Ends{away, here}, site.comm.rank(),
            pattern, merge.spread(), cells, make_plan(pattern, site.topology, scheme, site.comm.rank()),
            options.exchange.wire, site.transport(tag, options.persistent));
    };
    const Region cells = merge.spread().box_cells();
    there_ = carried(4, true, cells);
    back_ = carried(5, false, cells);
    if (landing.precision == Precision::fp32) return;
    // The upper faces of a box lie in its first layer of ghosts.
    coefficients_there_ = carried(6, true, {{}, cells.size + merge.spread().layers(1)});
}

void Handover::collect() {
    told_(Way::there);
    const Field to = merged_ ? merged_->f : Field();
    there_->run(std::span(&landing_->f, 1), std::span(&to, 1));
}

void Handover::collect_guess() {
    told_(Way::there);
    const Field to = merged_ ? merged_->u : Field();
    there_->run(std::span(&landing_->u, 1), std::span(&to, 1));
}

void Handover::spread() {
    told_(Way::back);
    const Field from = merged_ ? merged_->u : Field();
    back_->run(std::span(&from, 1), std::span(&landing_->u, 1));
}

void Handover::bring(Field to) {
    coefficients_there_->run(std::span(&landing_->u, 1), std::span(&to, 1));
}

}  // namespace keel
