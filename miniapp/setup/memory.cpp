#include "miniapp/setup/memory.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "comm/plans/itinerary.hpp"
#include "comm/plans/schemes.hpp"
#include "miniapp/deck/deck.hpp"
#include "miniapp/setup/modes.hpp"
#include "miniapp/setup/simulation.hpp"
#include "miniapp/studies/spmv/matrix_memory.hpp"

namespace keel {
namespace {

// How many fields an exchange of a Krylov method carries at the most.
int carried_at_once(const Parameters& parameters) {
    int most = vectors_at_once(parameters.bottom);
    for (const auto& contestant : parameters.contestants)
        most = std::max(most, vectors_at_once(contestant.bottom));
    return most;
}

// Grid-sized arrays on a rank: of a level, of the coarsest level's solvers or, where the grid of these is elsewhere, of both.
struct Held {
    Layout layout;
    int fields = 0;
    int level = 0;
    bool solved_on = false;  // the coarsest level, where its solvers work on it
};

std::vector<Held> held_by(const Parameters& parameters, const Layout& finest) {
    std::vector<Held> all;
    Layout layout = finest;
    const auto widths = level_widths(finest.width(), coarsest_box(parameters));
    for (std::size_t l = 0; l < widths.size(); ++l) {
        if (l > 0) layout = layout.coarsened();
        all.push_back({layout, fields_of_level(parameters) + (l == 0 ? fields_on_finest(parameters) : 0),
                       static_cast<int>(l)});
    }
    const BottomPlace place = bottom_place(parameters);
    if (place == BottomPlace::distributed || parameters.run.mode == Mode::exchange) {
        all.back().fields += fields_on_coarsest(parameters);
        all.back().solved_on = true;
    } else if (const auto moved = BottomMove(layout, place, parameters.multigrid.bottom_ranks).layout()) {
        all.push_back(
            {*moved, fields_of_level(parameters) + fields_on_coarsest(parameters), all.back().level, true});
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

std::size_t predicted_bytes(const Parameters& parameters, const Layout& finest, const Topology& topology,
                            const std::vector<LevelSchemes>& schemes) {
    HierarchyOptions options = hierarchy_options(parameters);
    options.schemes = schemes;
    const std::vector<Held> all = held_by(parameters, finest);
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
        const int at_once = carried_at_once(parameters);
        const bool of_krylov = parameters.run.mode == Mode::krylov ? held.level == 0 : held.solved_on;
        if (of_krylov && at_once > 1)
            values += static_cast<std::size_t>(at_once) *
                      buffers(options.ghost_depth, options.neighbours, chosen.ghosts);
        if (held.level > 0 && options.all_ghosts && !moved)
            values += buffers(1, Neighbours::all, chosen.all_ghosts);
        if (deep > 0)  // for a coefficient in set-up, then for vectors
            values += static_cast<std::size_t>(1 + powers_need(parameters).at_once) *
                      buffers(deep, Neighbours::all, chosen.deep_ghosts);
    }
    return values * sizeof(double);
}

std::size_t array_bytes(const Parameters& parameters, const Layout& finest) {
    std::size_t values = 0;
    for (const Held& held : held_by(parameters, finest))
        values += static_cast<std::size_t>(held.fields) * held.layout.local_cells();
    return values * sizeof(double);
}

double memory_of_node() {
    return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

std::optional<std::string> exceeds_memory(const Parameters& parameters, int ranks, int sharing,
                                          double available, const std::string& where) {
    if (parameters.run.mode == Mode::spmv) {
        const MatrixSize size = matrix_size(parameters, ranks);
        const double needed = bytes_at_least(parameters, size) / ranks * sharing;
        if (needed <= available) return {};
        return fmt::format(
            "problem.matrix = \"{}\" of {} rows and {:.0f} entries on {} ranks: at least {:.1f} GB on a {} "
            "of "
            "{:.1f} GB; choose fewer rows, or more {}s",
            parameters.problem.matrix, size.rows, size.entries, ranks, needed * 1e-9, where, available * 1e-9,
            where);
    }
    const Index boxes = resolved_boxes(parameters, ranks);
    const double cells = std::pow(parameters.problem.box, 3) * boxes[0] * boxes[1] * boxes[2];
    const double coarsening = std::pow(1.0 * coarsest_box(parameters) / parameters.problem.box, 3);
    const double on_coarsest = fields_on_coarsest(parameters);
    const double fields =
        fields_of_level(parameters) + fields_on_finest(parameters) + coarsening * on_coarsest;
    // The node that holds most of a bottom grid that is elsewhere has at least so many copies of it.
    const BottomPlace place = bottom_place(parameters);
    const double copies = place == BottomPlace::replicate ? sharing : place == BottomPlace::gather ? 1 : 0;
    const double needed =
        sizeof(double) * cells *
        (fields / ranks * sharing + copies * coarsening * (fields_of_level(parameters) + on_coarsest));
    if (needed <= available) return {};
    return fmt::format(
        "problem.box = {}, problem.boxes = [{}] on {} ranks: at least {:.1f} GB on a {} of {:.1f} GB; "
        "choose smaller "
        "or fewer boxes, or more {}s",
        parameters.problem.box, fmt::join(boxes, ","), ranks, needed * 1e-9, where, available * 1e-9, where);
}

}  // namespace keel
