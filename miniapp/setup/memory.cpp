#include "miniapp/setup/memory.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "comm/plans/itinerary.hpp"
#include "comm/plans/schemes.hpp"

namespace keel {
namespace {

// Grid-sized arrays on a rank: of a level, of the coarsest level's solvers or, where the grid of these is elsewhere, of both.
struct Held {
    Layout layout;
    int fields = 0;
    int level = 0;
    bool solved_on = false;  // the coarsest level, where its solvers work on it
};

std::vector<Held> held_by(const GridSetup& grids, const Layout& finest) {
    std::vector<Held> all;
    Layout layout = finest;
    for (int l = 0; l < grids.levels(); ++l) {
        if (l > 0) layout = layout.coarsened();
        all.push_back({layout, grids.fields_of_level + (l == 0 ? grids.fields_on_finest : 0), l});
    }
    if (!grids.moves_bottom() || grids.use.krylov == KrylovLevel::none) {
        all.back().fields += grids.fields_on_coarsest;
        all.back().solved_on = true;
    } else if (const auto moved =
                   BottomMove(layout, grids.hierarchy.bottom_place, grids.hierarchy.bottom_ranks).layout()) {
        all.push_back({*moved, grids.fields_of_level + grids.fields_on_coarsest, all.back().level, true});
    }
    return all;
}

// Values in the buffers of a rank's part of a plan.
std::size_t buffer_values(const Plan& plan, int rank) {
    const Itinerary itinerary(plan, rank);
    return itinerary.send_values() + itinerary.receive_values();
}

// Those that carry the coarsest level to where it is solved on, its operator first, and back.
std::size_t bottom_move_values(const BottomMove& move, const Layout& bottom, const Topology& topology,
                               const LevelSchemes& schemes) {
    const auto values = [&](const BoxPattern& pattern, std::size_t of_box, const SchemeOptions& scheme) {
        std::size_t kept = 0;
        for (const int box : pattern.to().boxes_of(bottom.rank()))
            if (pattern.from().holds(bottom.rank(), box)) kept += of_box;
        return kept + buffer_values(make_plan(pattern, topology, scheme, bottom.rank()), bottom.rank());
    };
    const std::size_t cells = cube(bottom.width()).cells();
    const std::size_t with_faces = cube(bottom.width() + 1).cells();
    return values(move.there(static_cast<int>(cells)), cells, schemes.to_bottom) +
           values(move.back(static_cast<int>(cells)), cells, schemes.from_bottom) +
           values(move.there(static_cast<int>(with_faces)), with_faces, schemes.to_bottom);
}

}  // namespace

std::size_t predicted_bytes(const GridSetup& grids, const Layout& finest, const Topology& topology,
                            const std::vector<LevelSchemes>& schemes) {
    HierarchyOptions options = grids.hierarchy;
    options.schemes = schemes;
    const std::vector<Held> all = held_by(grids, finest);
    const bool elsewhere = options.bottom_place != BottomPlace::distributed;
    Topology solvers = topology;
    std::size_t values = 0;
    if (elsewhere) {
        const auto spread = std::ranges::find(all, all.back().level, &Held::level);
        const BottomMove move(spread->layout, options.bottom_place, options.bottom_ranks);
        solvers = topology.among(move.ranks());
        values += bottom_move_values(move, spread->layout, topology, options.schemes_of(spread->level));
    }
    for (const Held& held : all) {
        const Layout& layout = held.layout;
        const int deep = held.solved_on ? options.bottom_ghosts : 0;
        const int ghosts = std::max(options.ghost_depth, deep);
        values += static_cast<std::size_t>(held.fields) *
                  Shape::of(layout.local_count(), layout.width(), ghosts).values();
        const LevelSchemes chosen = options.schemes_of(held.level);
        const bool moved = held.solved_on && elsewhere;
        const auto buffers = [&](int depth, Neighbours neighbours, const SchemeOptions& scheme) {
            return buffer_values(make_plan(ghost_pattern(layout, depth, neighbours, scheme),
                                           moved ? solvers : topology, scheme, layout.rank()),
                                 layout.rank());
        };
        values += buffers(options.ghost_depth, options.neighbours, chosen.ghosts);
        const bool of_krylov = grids.use.krylov == KrylovLevel::finest ? held.level == 0 : held.solved_on;
        if (of_krylov && grids.vectors_at_once > 1)
            values += static_cast<std::size_t>(grids.vectors_at_once) *
                      buffers(options.ghost_depth, options.neighbours, chosen.ghosts);
        if (held.level > 0 && options.all_ghosts && !moved)
            values += buffers(1, Neighbours::all, chosen.all_ghosts);
        if (deep > 0)  // for a coefficient in set-up, then for vectors
            values += static_cast<std::size_t>(1 + grids.powers.at_once) *
                      buffers(deep, Neighbours::all, chosen.deep_ghosts);
    }
    return values * sizeof(double);
}

std::size_t array_bytes(const GridSetup& grids, const Layout& finest) {
    std::size_t values = 0;
    for (const Held& held : held_by(grids, finest))
        values += static_cast<std::size_t>(held.fields) * held.layout.local_cells();
    return values * sizeof(double);
}

double memory_of_node() {
    return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

std::optional<std::string> exceeds_memory(const GridSetup& grids, const SharedMemory& memory) {
    const Index& boxes = grids.boxes;
    const int box = grids.problem.box;
    const double cells = std::pow(box, 3) * boxes[0] * boxes[1] * boxes[2];
    const double coarsening = std::pow(1.0 * grids.hierarchy.bottom_box / box, 3);
    const double fields =
        grids.fields_of_level + grids.fields_on_finest + coarsening * grids.fields_on_coarsest;
    // The node that holds most of a bottom grid that is elsewhere has at least so many copies of it.
    const BottomPlace place = grids.hierarchy.bottom_place;
    const double copies = place == BottomPlace::replicate ? memory.sharing
                          : place == BottomPlace::gather  ? 1
                                                          : 0;
    const double needed = sizeof(double) * cells *
                          (fields / grids.ranks * memory.sharing +
                           copies * coarsening * (grids.fields_of_level + grids.fields_on_coarsest));
    if (needed <= memory.bytes) return {};
    return fmt::format(
        "problem.box = {}, problem.boxes = [{}] on {} ranks: at least {:.1f} GB on a {} of {:.1f} GB; "
        "choose smaller or fewer boxes, or more {}s",
        box, fmt::join(boxes, ","), grids.ranks, needed * 1e-9, memory.where, memory.bytes * 1e-9,
        memory.where);
}

}  // namespace keel
