#include "miniapp/prediction/counting/cycle_exchanges.hpp"

#include <limits>
#include <vector>

#include "miniapp/prediction/counting/counted_grid.hpp"
#include "solvers/krylov/methods.hpp"
#include "solvers/multigrid/nonlinear/fas.hpp"
#include "solvers/multigrid/v_cycle.hpp"

namespace keel {
namespace {

Slice cycles_of_solve(ReplayedGrid& on, MultigridOptions options, int cycles, const BottomOptions& bottom) {
    options.max_cycles = cycles;
    options.tolerance = std::numeric_limits<double>::min();
    Multigrid(on.hierarchy(), options, bottom).solve();
    return on.take();
}

}  // namespace

CycleExchanges::CycleExchanges(const GridSetup& grids, const Topology& topology) {
    ReplayedGrid on(grids, topology, {}, SolveTape::of_ones(static_cast<std::size_t>(grids.levels())));
    const auto count = [&](const Slice& slice, int times) {
        for (const Event& event : slice.trace) {
            if (event.kind != Event::Kind::exchange) continue;
            ExchangeCount& counted = counts_[{event.level, event.use, event.value_bytes}];
            counted.all += times;
            counted.of_one_colour += event.one_colour ? times : 0;
        }
    };
    Level& top = on.hierarchy().level(0);
    BottomOptions relaxed;
    relaxed.solver = relaxation().name;
    if (const auto sweeps = grids.use.full_approximation) {
        FasMap map(on.hierarchy(), grids.multigrid, *sweeps, {}, top.f);
        map.evaluate(top.u, top.u);
        map.residual(top.u);
        count(on.take(), 1);
    } else if (grids.use.krylov == KrylovLevel::finest) {
        relaxed.sweeps = grids.use.solvers.front().options.sweeps;
        VCycle(on.hierarchy(), grids.multigrid, relaxed.sweeps).apply(top.r, top.f);
        count(on.take(), 1);
    } else if (grids.use.full_multigrid) {
        Multigrid(on.hierarchy(), grids.multigrid, relaxed).cycle(top.u, top.f, Guess::with_ghosts);
        count(on.take(), 1);
        // The start of full multigrid has the ghosts of the right-hand side, not its V-cycles.
        share_right_hand_side(top);
        count(on.take(), -1);
    } else {
        // The first cycle may be another one.
        count(cycles_of_solve(on, grids.multigrid, 3, relaxed), 1);
        count(cycles_of_solve(on, grids.multigrid, 2, relaxed), -1);
    }
}

ExchangeCount CycleExchanges::of(const SchemeUse& use) const {
    const ExchangeUse what =
        use.ghosts() ? ExchangeUse(use.ghosts()->purpose) : ExchangeUse(use.moves()->way);
    const auto found = counts_.find({use.level, what, use.value_bytes});
    return found == counts_.end() ? ExchangeCount{} : found->second;
}

}  // namespace keel
