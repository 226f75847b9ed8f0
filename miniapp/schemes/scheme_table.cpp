#include "miniapp/schemes/scheme_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "miniapp/deck/text/text.hpp"

namespace keel {

std::string purpose_of(const SchemeUse& use) {
    if (const auto* ghosts = std::get_if<GhostCells>(&use.what)) return name(ghosts->purpose);
    if (const auto* entries = std::get_if<VectorEntries>(&use.what)) return name(entries->use);
    const auto& boxes = std::get<MovedBoxes>(use.what);
    return std::string(boxes.way == Way::there ? "to_" : "from_") +
           (boxes.agglomeration.merges() ? "merged" : "bottom");
}

std::optional<double> SchemeTable::least(std::size_t row) const {
    if (rounds.empty()) return {};
    return *std::min_element(rounds[row].begin(), rounds[row].end());
}

std::optional<std::size_t> chosen_before_run(const Communication& comm, std::span<const SchemeRow> rows) {
    if (comm.chooser == SchemeChooser::nobody || comm.chooser == SchemeChooser::tuned) return {};
    if (comm.chooser == SchemeChooser::automatic)
        return static_cast<std::size_t>(&fastest(rows) - rows.data());
    const std::string wanted = name(comm.scheme);
    const auto found = std::find_if(rows.begin(), rows.end(),
                                    [&](const SchemeRow& row) { return name(row.scheme) == wanted; });
    // The staged axes carry ghosts only; anything else travels by the standard scheme then.
    return found == rows.end() ? 0 : static_cast<std::size_t>(found - rows.begin());
}

bool schemes_matter(const Resolved& resolved) {
    return resolved.topology.nodes() > 1 || resolved.machine ||
           resolved.comm.chooser != SchemeChooser::deck || !resolved.comm.transports.empty();
}

std::vector<SchemeUse> scheme_uses(const GridSetup& grids, const Layout& finest) {
    const HierarchyOptions& options = grids.hierarchy;
    using Purpose = GhostCells::Purpose;
    const auto fields = static_cast<std::size_t>(grids.use.exchanged_fields.value_or(1));
    const auto of_powers =
        grids.use.exchanged_fields ? fields : static_cast<std::size_t>(grids.powers.at_once);
    std::vector<SchemeUse> uses;
    const std::vector<LevelDistribution> places = grids.places(finest);
    const auto some = [&](const std::vector<int>& ranks) {
        return ranks.size() < static_cast<std::size_t>(grids.ranks) ? ranks : std::vector<int>();
    };
    // In the precision of the cycles, or of the ghosts that they send; the coarsest level is no part of them.
    // The finer ones' exchanges are also made in double precision, for the residuals between cycles.
    const Precision of_cycles = options.mixed ? Precision::fp32 : Precision::fp64;
    for (int level = 0; level < grids.levels(); ++level) {
        const LevelDistribution& place = places[static_cast<std::size_t>(level)];
        const LevelPlans cycled = plans_of_level(places, level, of_cycles, options);
        const LevelPlan plan = cycled.level.passes_on
                                   ? plans_of_level(places, level, Precision::fp64, options).level
                                   : cycled.level;
        const LevelPlan& interpolated = cycled.before ? *cycled.before : cycled.level;
        const std::vector<int> ranks = some(place.ranks);
        const std::vector<int> above =
            place.agglomeration ? some(places[static_cast<std::size_t>(level - 1)].ranks) : ranks;
        const auto add = [&](Purpose purpose, const LevelPlan& on, const std::optional<PlannedGhosts>& ghosts,
                             std::size_t columns, const std::vector<int>& among) {
            const bool of_cycle = level + 1 < grids.levels() || purpose == Purpose::interpolation;
            const Precision sent = of_cycle ? std::max(on.precision, options.ghosts) : on.precision;
            if (ghosts)
                uses.push_back({level, on.layout, GhostCells{purpose, ghosts->layers, ghosts->neighbours},
                                columns, bytes_of_value(sent), among});
        };
        if (place.agglomeration)
            for (const Way way : {Way::there, Way::back})
                uses.push_back({level, interpolated.layout, MovedBoxes{way, *place.agglomeration}, fields,
                                bytes_of_value(of_cycles), above});
        add(Purpose::stencil, plan, plan.ghosts, fields, ranks);
        if (plan.fused > 0) add(Purpose::smoothing, plan, plan.deep_ghosts, fields, ranks);
        add(Purpose::interpolation, interpolated, interpolated.all_ghosts, fields, above);
        if (plan.fused == 0) add(Purpose::powers, plan, plan.deep_ghosts, of_powers, ranks);
    }
    return uses;
}

BoxPattern boxes_moved(const SchemeUse& use) {
    const MovedBoxes& moves = *use.moves();
    return moves.agglomeration.pattern(moves.way, static_cast<int>(use.layout.box_cells().cells()));
}

Plan plan_of(const SchemeUse& use, const Topology& topology, const SchemeOptions& scheme,
             const RanksPlanned& whose) {
    const GhostCells* ghosts = use.ghosts();
    if (!ghosts) return make_plan(boxes_moved(use), topology, scheme, whose);
    return make_plan(ghost_pattern(use.layout, ghosts->depth, ghosts->neighbours, scheme), topology, scheme,
                     whose);
}

std::vector<Plan> plans_of(const SchemeUse& use, const Representatives& nodes, const SchemeOptions& scheme) {
    std::vector<Plan> plans;
    for (const Representatives::Part& part : nodes.parts()) {
        const SchemeUse there{use.level, part.layout, use.what, use.columns, use.value_bytes};
        plans.push_back(plan_of(there, part.topology, scheme, {}));
    }
    return plans;
}

std::vector<LevelSchemes> schemes_by_level(const std::vector<SchemeTable>& tables) {
    std::vector<LevelSchemes> schemes;
    for (const SchemeTable& table : tables) {
        if (!table.chosen) return {};
        schemes.resize(static_cast<std::size_t>(table.use.level) + 1);
        SchemeOptions LevelSchemes::*place = &LevelSchemes::deep_ghosts;
        if (table.use.is(GhostCells::Purpose::stencil)) place = &LevelSchemes::ghosts;
        if (table.use.is(GhostCells::Purpose::interpolation)) place = &LevelSchemes::all_ghosts;
        if (const MovedBoxes* boxes = table.use.moves())
            place = boxes->way == Way::there ? &LevelSchemes::there : &LevelSchemes::back;
        schemes.back().*place = table.rows[*table.chosen].scheme;
    }
    return schemes;
}

namespace {

// The deck's scheme where the deck chooses, or the one that all others are compared with.
SchemeOptions scheme_needed(const Communication& comm, const SchemeUse& use) {
    SchemeOptions options = comm.chooser == SchemeChooser::deck ? comm.scheme : SchemeOptions();
    options.columns = use.columns;
    return use.ghosts() ? options : without_axes(options);
}

// Requests in the plan of a scheme for the largest part of the nodes, if `share` of the ghosts are planned
// for.
double requests_to_plan(const SchemeUse& use, const Representatives& nodes, const SchemeOptions& scheme,
                        double share) {
    const GhostCells* ghosts = use.ghosts();
    const Layout& layout = nodes.largest().layout;
    return ghosts ? share * ghost_pattern(layout, ghosts->depth, ghosts->neighbours, scheme).most_requests()
                  : boxes_moved(use).most_requests();
}

double share_of_ghosts(const SchemeUse& use, const Representatives& nodes) {
    return use.ghosts() ? nodes.share_of_requests() : 1.0;
}

// The schemes that are planned side by side, or the one that is used.
std::vector<SchemeOptions> schemes_of(const SchemeUse& use, const Communication& comm,
                                      const Planned& planned) {
    if (!planned.side_by_side) return {scheme_needed(comm, use)};
    SchemeOptions options = comm.scheme;
    options.columns = use.columns;
    return use.ghosts() ? candidates(options) : candidates_without_axes(options);
}

}  // namespace

std::vector<SchemeTable> plan_all_schemes(const GridSetup& grids, const Layout& finest,
                                          const Communication& comm, const Setup& setup,
                                          const Planned& planned) {
    std::vector<SchemeTable> tables;
    for (const SchemeUse& use : scheme_uses(grids, finest)) {
        SchemeTable& table = tables.emplace_back(SchemeTable{.use = use, .rows = {}});
        const GhostCells* ghosts = use.ghosts();
        const Setup among{use.among(setup.topology), setup.model, use.value_bytes};
        const Representatives nodes = Representatives::of(use.layout, among.topology);
        if (ghosts && !nodes.all()) table.planned_nodes = nodes.largest().topology.nodes();
        const SchemeOptions needed = scheme_needed(comm, use);
        std::vector<SchemeOptions> schemes = schemes_of(use, comm, planned);
        const double share = share_of_ghosts(use, nodes);
        std::erase_if(schemes, [&](const SchemeOptions& scheme) {
            if (scheme.scheme == Scheme::standard || name(scheme) == name(needed) ||
                planned.limit.allows(cost_of_requests(requests_to_plan(use, nodes, scheme, share))))
                return false;
            table.left_out.push_back(name(scheme));
            return true;
        });
        table.rows =
            ghosts ? nodes.compare(ghosts->depth, ghosts->neighbours, schemes, setup.model, use.value_bytes)
                   : compare(boxes_moved(use), schemes, among);
        table.chosen = chosen_before_run(comm, table.rows);
    }
    return tables;
}

std::string exceeds_planning(const GridSetup& grids, const Layout& finest, const Communication& comm,
                             const Topology& topology, const Planned& planned) {
    const std::vector<SchemeUse> uses = scheme_uses(grids, finest);
    DryRunCost cost = cost_of_boxes(finest.box_count(), static_cast<double>(uses.size()));
    for (const SchemeUse& use : uses) {
        const Representatives nodes = Representatives::of(use.layout, use.among(topology));
        const std::string needed = name(scheme_needed(comm, use));
        const double share = share_of_ghosts(use, nodes);
        const double boxes = nodes.largest().layout.box_count();
        for (const SchemeOptions& scheme : schemes_of(use, comm, planned)) {
            const double requests = requests_to_plan(use, nodes, scheme, share);
            const DryRunCost of_part = cost_of_requests(requests);
            if (planned.limit.allows(of_part)) {
                const auto parts = static_cast<double>(nodes.parts().size());
                cost += {cost_of_requests(parts * requests, parts * boxes).seconds, of_part.bytes};
                continue;
            }
            if (scheme.scheme != Scheme::standard && name(scheme) != needed) continue;  // left out
            const std::string remedy =
                fmt::format("{}a smaller problem.box, or fewer boxes",
                            planner(scheme.scheme).longest_item ? "a larger comm.message_cap, " : "");
            return fmt::format("comm.scheme = \"{}\", {} boxes of {}^{} on {}: {}",
                               planner(scheme.scheme).word, use.layout.box_count(), use.layout.width(),
                               use.layout.dimensions(), counted(grids.ranks, "rank"),
                               planned.limit.exceeded_by(of_part, remedy));
        }
    }
    const std::string exceeded = planned.limit.exceeded_by(cost, "fewer problem.ranks or boxes");
    return exceeded.empty() ? ""
                            : fmt::format("{} boxes on {}: {}", finest.box_count(),
                                          counted(grids.ranks, "rank"), exceeded);
}

std::string too_long_for_mpi(const std::vector<SchemeTable>& tables) {
    constexpr int most = std::numeric_limits<int>::max();
    for (const SchemeTable& table : tables)
        for (std::size_t n = 0; n < table.rows.size(); ++n) {
            const SchemeRow& row = table.rows[n];
            if (table.chosen.value_or(n) != n || row.longest_message <= most) continue;
            const bool of_matrix = table.use.entries() != nullptr;
            return fmt::format(
                "comm.scheme = \"{}\", level {}, {}: a message of {:.0f} values, and MPI counts at most {}; "
                "choose {}, or comm.scheme = \"split\", which cuts messages",
                name(row.scheme), table.use.level, purpose_of(table.use), row.longest_message, most,
                of_matrix ? "fewer problem.columns or more ranks"
                          : "smaller boxes, fewer on a rank, or more ranks");
        }
    return "";
}

}  // namespace keel
