#include "miniapp/prediction/counting/counted_grid.hpp"

#include <algorithm>
#include <utility>

#include "miniapp/setup/problem/problem.hpp"

namespace keel {
namespace {

// The levels that sum over ranks; null where this rank has none.
std::vector<Level*> summed_levels(Hierarchy& hierarchy) {
    std::vector<Level*> levels;
    for (int l = 0; l < hierarchy.levels(); ++l)
        levels.push_back(hierarchy.has(l) ? &hierarchy.level(l) : nullptr);
    return levels;
}

// The grids as the busiest rank has them.
GridSetup on_busiest_rank(GridSetup grids) {
    const Layout finest = grids.finest();
    const std::vector<LevelDistribution> places = grids.places(finest);
    // By rank: its boxes on each level, those that it takes from others, neighbours of boxes on the finest.
    std::vector<std::vector<int>> loads(static_cast<std::size_t>(grids.ranks),
                                        std::vector<int>(places.size() + 2));
    const auto load = [&](std::size_t l, int rank) -> std::vector<int>& {
        return loads[static_cast<std::size_t>(places[l].ranks[static_cast<std::size_t>(rank)])];
    };
    for (std::size_t l = 0; l < places.size(); ++l) {
        const auto& [layout, ranks, moved] = places[l];
        for (int box = 0; box < layout.box_count(); ++box) ++load(l, layout.owner(box))[l];
        for (int box = 0; moved && box < moved->owners.boxes(); ++box)
            for (const int rank : moved->holders.ranks_of(box))
                load(l - 1, rank)[places.size()] += moved->owners.holds(rank, box) ? 0 : 1;
    }
    const GhostPattern ghosts = ghost_pattern(finest, 1, Neighbours::faces);
    for (const Index& side : ghosts.sides())
        for (int box = 0; box < finest.box_count(); ++box)
            loads[static_cast<std::size_t>(finest.owner(box))].back() += finest.neighbour(box, side) ? 1 : 0;
    // Each rank of the level above has a copy of the last level.
    const bool copies = places.back().agglomeration && places.back().agglomeration->holders.everyone();
    const std::vector<int>& solving = (copies ? places[places.size() - 2] : places.back()).ranks;
    grids.rank = *std::ranges::max_element(solving, {},
                                           [&](int rank) { return loads[static_cast<std::size_t>(rank)]; });
    return grids;
}

}  // namespace

// No formula is evaluated where nothing is computed.
CountedGrid::CountedGrid(const GridSetup& grids, const Topology& topology,
                         const std::vector<LevelSchemes>& schemes, std::unique_ptr<Backend> backend)
    : backend_(std::move(backend)), ledger_(grids.levels()) {
    ledger_.watch(backend_->device_log());
    const OperatorFormulas formulas{
        .a_alpha = {}, .face = {}, .singular = is_singular(grids.problem, grids.domain.has_dirichlet())};
    HierarchyOptions options = grids.hierarchy;
    options.schemes = schemes;
    hierarchy_ = std::make_unique<Hierarchy>(Communicator::virtual_rank(grids.rank, grids.ranks, &messages_),
                                             topology, *backend_, grids.finest(), formulas, options, ledger_);
}

double CountedGrid::bytes() const {
    // Plan, schedule and MPI keep so much of a message besides its values: 1.4 to 1.8 kB, measured with Open
    // MPI 4.1.
    constexpr std::size_t of_message = 1600;
    return static_cast<double>(memory_.bytes() + messages_.window_bytes + of_message * messages_.messages +
                               2 * sizeof(Item) * messages_.items + sizeof(BlockCopy) * messages_.relayed);
}

SolveTape SolveTape::of_ones(std::size_t levels) {
    OfLevel endless{.gershgorin_bound = 1, .jacobi_bound = 1};
    std::vector<double> ones(1000, 1.0);
    endless.totals.begin_part();
    endless.totals.pass(ones);
    SolveTape tape;
    tape.levels_.assign(levels, endless);
    return tape;
}

void SolveTape::record(Hierarchy& hierarchy) {
    const std::vector<Level*> levels = summed_levels(hierarchy);
    levels_.resize(levels.size());
    for (std::size_t l = 0; l < levels.size(); ++l) {
        levels_[l].gershgorin_bound = levels[l]->gershgorin_bound;
        levels_[l].jacobi_bound = levels[l]->jacobi_bound;
        levels[l]->reduction = taped(std::move(levels[l]->reduction), levels_[l].totals);
    }
    hierarchy.before_visits([&bottom = levels_.back().totals] { bottom.begin_part(); });
}

void SolveTape::record_anew() {
    for (OfLevel& level : levels_) level.totals.begin(Tape::Mode::record);
}

void SolveTape::rewind() {
    for (OfLevel& level : levels_) level.totals.begin(Tape::Mode::replay);
}

Hierarchy& SolveTape::replay(Hierarchy& hierarchy) {
    const std::vector<Level*> levels = summed_levels(hierarchy);
    check_at_most(levels_.size(), levels.size(), "a solve is replayed on all levels that it was recorded on");
    const std::size_t more = levels.size() - levels_.size();
    rewind();
    for (std::size_t l = 0; l < levels.size(); ++l) {
        if (levels[l] == nullptr) continue;
        OfLevel& recorded = levels_[l - std::min(l, more)];
        levels[l]->gershgorin_bound = recorded.gershgorin_bound;
        levels[l]->jacobi_bound = recorded.jacobi_bound;
        if (l == 0 || l > more)
            levels[l]->reduction = taped(std::move(levels[l]->reduction), recorded.totals);
    }
    hierarchy.before_visits([&bottom = levels_.back().totals] { bottom.begin_part(); });
    return hierarchy;
}

bool SolveTape::at_end() const {
    return std::ranges::all_of(levels_, [](const OfLevel& level) { return level.totals.at_end(); });
}

ReplayedGrid::ReplayedGrid(const GridSetup& grids, const Topology& topology,
                           const std::vector<LevelSchemes>& schemes, const SolveTape& tape)
    : grids_(on_busiest_rank(grids)),
      tape_(tape),
      counted_(grids_.gpu ? CountedGrid::on_gpu(grids_, topology, schemes)
                          : CountedGrid(grids_, topology, schemes)),
      recorder_(tape_.replay(counted_.hierarchy()), counted_.ledger()) {}

Slice ReplayedGrid::take() {
    Slice slice{.trace = recorder_.take(), .ranks = {}};
    for (int l = 0; l < hierarchy().levels(); ++l) {
        const Layout& layout = hierarchy().level(l).layout;
        slice.ranks.push_back(static_cast<double>(layout.cell_count()) /
                              static_cast<double>(layout.local_cells()));
    }
    if (grids_.hierarchy.bottom_grid == BottomRanks::all) slice.ranks.back() = grids_.ranks;
    return slice;
}

}  // namespace keel
