// Few messages by geometry: ghosts travel along x, then y, then z, with slabs that grow by the ghosts of the
// axes before: every rank has at most two partners an axis, with as many ranks as boxes. A ghost cell off an
// edge or corner comes through the boxes that share a face with both ends of the axes crossed so far. (Ding,
// He, "A ghost cell expansion method for reducing communications in solving PDE problems", SC 2001, where it
// spares diagonal messages.)

#include <array>
#include <map>
#include <set>
#include <utility>

#include "comm/plans/schemes.hpp"

namespace keel {
namespace {

constexpr std::array axes{Phase::axis_x, Phase::axis_y, Phase::axis_z};
using Transfers = std::array<std::vector<Transfer>, 3>;  // by axis

// The transfers that bring box `from`'s items to all ranks that need them. An item goes to no rank that has
// it already, and of two ranks that could bring it in the same phase the lower does.
void add_transfers(const GhostPattern& pattern, int from, Transfers& transfers) {
    const Layout& layout = pattern.layout();
    std::map<Item, std::set<int>> holders;
    std::vector<std::pair<GhostRegion, Index>> regions;  // and the steps to the boxes that have them
    for (const Index& side : pattern.sides())
        if (const auto ghosts = pattern.ghosts_from(from, side)) regions.emplace_back(*ghosts, -side);
    for (std::size_t d = 0; d < 3; ++d) {
        std::map<std::pair<Item, int>, int> brought;  // item and target: source
        for (const auto& [ghosts, step] : regions) {
            if (step[d] == 0) continue;
            Index before{};
            for (std::size_t axis = 0; axis < d; ++axis) before[axis] = step[axis];
            Index after = before;
            after[d] = step[d];
            // In a union of boxes one in between may be missing: then the last box before the gap sends to
            // the first box after it.
            const auto there = layout.neighbour(from, after);
            if (!there) continue;
            auto here = layout.neighbour(from, before);
            for (std::size_t axis = d; !here; --axis) {
                before[axis - 1] = 0;
                here = layout.neighbour(from, before);
            }
            const int source = layout.owner(*here);
            const int target = layout.owner(*there);
            if (source == target) continue;
            for (const Item& item : pattern.items(from, ghosts.source)) {
                const auto held = holders.find(item);
                if (target == item.owner || (held != holders.end() && held->second.contains(target)))
                    continue;
                const auto [first, is_new] = brought.try_emplace({item, target}, source);
                if (!is_new) first->second = std::min(first->second, source);
            }
        }
        for (const auto& [what, source] : brought) {
            transfers[d].push_back({source, what.second, 0, what.first});
            holders[what.first].insert(what.second);
        }
    }
}

Plan plan(const GhostPattern& pattern, const RanksPlanned& whose) {
    const Layout& layout = pattern.layout();
    std::set<int> sources;  // boxes whose items the ranks planned send, receive or pass on
    for (int box = 0; box < layout.box_count(); ++box) {
        if (!whose.concern(layout.owner(box), layout.owner(box))) continue;
        sources.insert(box);
        for (const Index& side : pattern.sides())
            if (const auto other = layout.neighbour(box, side)) sources.insert(*other);
    }
    Transfers transfers;
    for (const int box : sources) add_transfers(pattern, box, transfers);
    Plan plan{{Phase::local, {}}, {}};
    for (std::size_t d = 0; d < layout.dimensions(); ++d)
        plan.phases.push_back({axes[d], messages_of(std::move(transfers[d]), whose)});
    return plan;
}

}  // namespace

Planner staged_axes() {
    return {.scheme = Scheme::staged_axes,
            .word = "staged_axes",
            .meaning = "ghosts along x, then y, then z: edges and corners through the faces",
            .source = "Ding and He 2001",
            .candidates = {{.scheme = Scheme::staged_axes}},
            .plan_by_axes = plan};
}

}  // namespace keel
