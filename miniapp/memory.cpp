#include "miniapp/memory.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "comm/itinerary.hpp"
#include "comm/schemes.hpp"
#include "miniapp/deck.hpp"
#include "miniapp/matrix_memory.hpp"
#include "miniapp/modes.hpp"
#include "miniapp/simulation.hpp"

namespace keel {
namespace {

// How many fields an exchange of a Krylov method carries at the most.
int carried_at_once(const Parameters& parameters) {
    int most = vectors_at_once(parameters.bottom);
    for (const auto& contestant : parameters.contestants)
        most = std::max(most, vectors_at_once(contestant.bottom));
    return most;
}

// Calls visit(layout, number of fields, number of the level, bottom?) for every level.
template <class Visit>
void for_each_level(const Parameters& parameters, const Layout& finest, const Visit& visit) {
    Layout layout = finest;
    const auto widths = level_widths(finest.width(), coarsest_box(parameters));
    for (std::size_t l = 0; l < widths.size(); ++l) {
        if (l > 0) layout = layout.coarsened();
        const bool bottom = l + 1 == widths.size();
        const int on_finest = l == 0 ? fields_on_finest(parameters) : 0;
        const int on_coarsest = bottom ? fields_on_coarsest(parameters) : 0;
        visit(layout, fields_of_level(parameters) + on_finest + on_coarsest, static_cast<int>(l), bottom);
    }
}

}  // namespace

std::size_t predicted_bytes(const Parameters& parameters, const Layout& finest, const Topology& topology,
                            const std::vector<LevelSchemes>& schemes) {
    HierarchyOptions options = hierarchy_options(parameters);
    options.schemes = schemes;
    std::size_t values = 0;
    for_each_level(parameters, finest, [&](const Layout& layout, int fields, int level, bool bottom) {
        const int deep = bottom ? options.bottom_ghosts : 0;
        const int ghosts = std::max(options.ghost_depth, deep);
        values += static_cast<std::size_t>(fields) *
                  Shape::of(layout.local_count(), layout.width(), ghosts).values();
        const LevelSchemes chosen = options.schemes_of(level);
        const auto buffers = [&](int depth, Neighbours neighbours, const SchemeOptions& scheme) {
            const Itinerary itinerary(
                make_plan(ghost_pattern(layout, depth, neighbours, scheme), topology, scheme, layout.rank()),
                layout.rank());
            return itinerary.send_values() + itinerary.receive_values();
        };
        values += buffers(options.ghost_depth, options.neighbours, chosen.ghosts);
        const int at_once = carried_at_once(parameters);
        const int of_krylov =
            parameters.run.mode == Mode::krylov ? finest.width() : parameters.multigrid.bottom_box;
        if (layout.width() == of_krylov && at_once > 1)
            values += static_cast<std::size_t>(at_once) *
                      buffers(options.ghost_depth, options.neighbours, chosen.ghosts);
        if (level > 0 && options.all_ghosts) values += buffers(1, Neighbours::all, chosen.all_ghosts);
        if (deep > 0)  // for a coefficient in set-up, then for vectors
            values += static_cast<std::size_t>(1 + powers_need(parameters).at_once) *
                      buffers(deep, Neighbours::all, chosen.deep_ghosts);
    });
    return values * sizeof(double);
}

std::size_t array_bytes(const Parameters& parameters, const Layout& finest) {
    std::size_t values = 0;
    for_each_level(parameters, finest, [&](const Layout& layout, int fields, int, bool) {
        values += static_cast<std::size_t>(fields) * layout.local_cells();
    });
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
    const double fields = fields_of_level(parameters) + fields_on_finest(parameters) +
                          coarsening * fields_on_coarsest(parameters);
    const double needed = fields * sizeof(double) * cells / ranks * sharing;
    if (needed <= available) return {};
    return fmt::format(
        "problem.box = {}, problem.boxes = [{}] on {} ranks: at least {:.1f} GB on a {} of {:.1f} GB; "
        "choose smaller "
        "or fewer boxes, or more {}s",
        parameters.problem.box, fmt::join(boxes, ","), ranks, needed * 1e-9, where, available * 1e-9, where);
}

}  // namespace keel
