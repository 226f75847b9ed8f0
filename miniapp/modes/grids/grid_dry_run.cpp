// --dry-run of the modes of grids.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "miniapp/deck/text/text.hpp"
#include "miniapp/modes/grids/grid_mode.hpp"
#include "miniapp/prediction/counting/cycle_exchanges.hpp"
#include "miniapp/report/facts.hpp"
#include "miniapp/report/header.hpp"
#include "miniapp/report/records/records.hpp"
#include "miniapp/report/tables/level_tables.hpp"
#include "miniapp/report/tables/table.hpp"

namespace keel {
namespace {

// Exchanges of a level in a V-cycle; none where they depend on the iterations at the bottom.
std::optional<ExchangeCount> exchanges_per_cycle(const GridSetup& grids, const SchemeUse& use,
                                                 const CycleExchanges* counted) {
    const bool bottom = use.level + 1 == grids.levels() && use.is(GhostCells::Purpose::stencil);
    const bool relaxed = grids.use.full_approximation || grids.use.krylov == KrylovLevel::finest;
    if (counted == nullptr || use.is(GhostCells::Purpose::powers) || (bottom && !relaxed)) return {};
    return counted->of(use);
}

// Sent in one exchange by the busiest rank, each number by itself, with the bytes of the fields that the text
// names.
Volume sent_by_busiest(const GridSetup& grids, const SchemeUse& use, const SchemeRow& row) {
    const double share =
        static_cast<double>(grids.use.exchanged_fields.value_or(1)) / static_cast<double>(use.columns);
    Volume sent = row.most_sent;
    sent.bytes *= share;
    sent.off_node_bytes *= share;
    return sent;
}
Volume sent_by_busiest(const GridSetup& grids, const SchemeTable& table) {
    return sent_by_busiest(grids, table.use, table.rows[table.chosen.value_or(0)]);
}

// The messages of a scheme that carry one colour alone; without times.
SchemeRow row_of_one_colour(const SchemeUse& use, const Resolved& resolved, const SchemeOptions& scheme) {
    const Representatives nodes = Representatives::of(use.layout, use.among(resolved.topology));
    std::vector<Plan> plans = plans_of(use, nodes, scheme);
    std::ranges::transform(plans, plans.begin(), of_one_colour);
    return nodes.summary(scheme, plans, use.columns, nullptr, use.value_bytes);
}

// Sizes, exchanges and messages of each level: of the text and, as "levels", of the record.
ReportTable level_table(const GridSetup& grids, const Resolved& resolved,
                        const std::vector<SchemeTable>& tables) {
    ReportTable table(
        "Exchanges of ghost cells; messages and bytes: sent by the busiest rank in one of them");
    // A method on the finest grid without a cycle exchanges in its iterations alone.
    std::optional<CycleExchanges> counted;
    if (grids.use.krylov != KrylovLevel::none && (grids.levels() > 1 || grids.use.full_approximation))
        counted.emplace(grids, resolved.topology);
    for (const SchemeTable& planned : tables) {
        const SchemeUse& use = planned.use;
        // The ghosts of an F-cycle's start come on top.
        if (use.is(GhostCells::Purpose::interpolation) &&
            grids.multigrid.interpolation != Interpolation::linear)
            continue;
        const std::size_t dimensions = use.layout.dimensions();
        const int ranks = use.ranks.empty() ? grids.ranks : static_cast<int>(use.ranks.size());
        const SchemeOptions& scheme = planned.rows[planned.chosen.value_or(0)].scheme;
        const auto add = [&](const std::string& purpose, const std::optional<int>& per_cycle, bool one_colour,
                             const Volume& sent) {
            std::string what = purpose + (one_colour ? ", one colour" : "");
            std::ranges::replace(what, '_', ' ');
            const auto count = [](const char* field, double value, const char* heading,
                                  Unit unit = Unit::count) {
                return Cell(field, value, heading, unit, Kind::counted);
            };
            table.add({{"level", use.level, "level"},
                       {"cells", use.layout.cells(), "cells", cells_text(use.layout.cells(), dimensions)},
                       {"box", use.layout.width(), "boxes of",
                        fmt::format("{}^{}", use.layout.width(), dimensions)},
                       {"", (use.layout.box_count() + ranks - 1) / ranks, "boxes\na rank"},
                       {"purpose", purpose, "for", what},
                       {"one_colour", one_colour},
                       {"ranks", ranks},
                       {"exchanges_per_cycle", per_cycle ? Json(*per_cycle) : Json(), "exchanges\na V-cycle",
                        Unit::count},
                       {"scheme", name(scheme)},
                       count("messages", sent.messages, "messages"),
                       count("bytes", sent.bytes, "bytes", Unit::bytes),
                       count("off_node_messages", sent.off_node_messages, "off-node\nmessages"),
                       count("off_node_bytes", sent.off_node_bytes, "off-node\nbytes", Unit::bytes)});
        };
        Volume sent = sent_by_busiest(grids, planned);
        const auto per_cycle = exchanges_per_cycle(grids, use, counted ? &*counted : nullptr);
        const int of_one_colour =
            per_cycle && grids.hierarchy.one_colour_on(use.layout) ? per_cycle->of_one_colour : 0;
        add(purpose_of(use), per_cycle ? std::optional(per_cycle->all - of_one_colour) : std::nullopt, false,
            sent);
        if (of_one_colour > 0)
            add(purpose_of(use), of_one_colour, true,
                sent_by_busiest(grids, use, row_of_one_colour(use, resolved, scheme)));
        if (use.value_bytes == sizeof(double) || use.level > 0 || !use.is(GhostCells::Purpose::stencil))
            continue;
        // The same in double precision: residuals, once for some cycles, or the operator, in each iteration.
        const double wider = static_cast<double>(sizeof(double)) / static_cast<double>(use.value_bytes);
        sent.bytes *= wider;
        sent.off_node_bytes *= wider;
        add(grids.use.krylov == KrylovLevel::finest ? "operator" : "residual", std::nullopt, false, sent);
    }
    return table;
}

// Schemes that were not planned, and nodes that represent all.
std::string remarks_on_plans(const std::vector<SchemeTable>& tables, const Topology& topology) {
    std::string text;
    for (const SchemeTable& table : tables)
        if (!table.left_out.empty())
            text += fmt::format("remark: level {}: not enough memory here to plan {}; left out\n",
                                table.use.level, fmt::join(table.left_out, ", "));
    if (const int nodes = tables.front().planned_nodes; nodes > 0)  // every level has the same nodes
        text += fmt::format(
            "remark: planned: {} of {} nodes, which represent all, since they tile the boxes; three_step and "
            "split then share equal messages out in another order than all of them would\n",
            nodes, topology.nodes());
    return text;
}

// The text and the records of plans and prediction. `fields` and `arrays`: bytes of the rank that needs most,
// at its peak and for cells of the grids.
DryRun text_and_records(const GridSetup& grids, const Layout& finest, const Resolved& resolved,
                        const std::vector<SchemeTable>& tables, double fields, double arrays,
                        const Prediction& prediction) {
    const bool solves = grids.use.krylov != KrylovLevel::none;
    const int nodes = tables.front().planned_nodes;
    const DomainFacts domain = facts_of_domain(finest, name(grids.problem.shape));
    const ReportTable exchanges = level_table(grids, resolved, tables);
    const Json plan{{"boxes", finest.boxes()},
                    {"domain", domain_json(domain)},
                    {"boxes_per_rank", grids.most_boxes_of_a_rank()},
                    {"unknowns", finest.cell_count()},
                    {"array_bytes", arrays},
                    {"predicted_bytes", solves ? Json(fields) : Json()},
                    {"planned_nodes", nodes > 0 ? Json(nodes) : Json()},
                    {"busiest", volume_json(sent_by_busiest(grids, tables.front()))},
                    {"levels", exchanges.rows()}};
    std::string text = domain.whole ? "" : "domain: " + domain_text(domain, finest.boxes()) + "\n";
    text += exchanges.print() + agglomeration_text(grids.shapes(), grids.domain.dimensions());
    text += remarks_on_plans(tables, resolved.topology);
    text += fmt::format("one exchange: {}{}\n", counted(grids.use.exchanged_fields.value_or(1), "field"),
                        tables.front().chosen ? "" : ", by the standard scheme");
    if (solves)
        text += fmt::format(
            "memory: {} a rank at its peak, {} of them cells of the grids{}\n", bytes_text(fields),
            bytes_text(arrays),
            resolved.has_virtual_ranks() ? fmt::format("; of the first {} ranks", resolved.started) : "");
    std::string records;
    if (schemes_matter(resolved)) {
        const SchemeChooser chooser = resolved.comm.chooser;
        text += "\n" + schemes_text(chooser, tables, 0);
        records = scheme_records(chooser, tables);
    }
    text += prediction_text(prediction, resolved);
    records += prediction_records(prediction, resolved);
    return {text, json_text(plan), records};
}

}  // namespace

std::string PreparedGrids::exceeds_planning(const SharedMemory& memory) const {
    return keel::exceeds_planning(grids_, grids_.finest(), resolved_.comm, resolved_.topology,
                                  {schemes_matter(resolved_), memory.limit()});
}

DryRun PreparedGrids::dry_run(const Communicator& comm, const SharedMemory& memory,
                              Progress& progress) const {
    progress.say("planning messages");
    const Topology& topology = resolved_.topology;
    const Layout finest = grids_.finest();
    const auto tables = plan_all_schemes(grids_, finest, resolved_.comm, {topology, resolved_.model()},
                                         {schemes_matter(resolved_), memory.limit()});
    if (const std::string refusal = too_long_for_mpi(tables); !refusal.empty()) return {.refusal = refusal};
    const bool solves = grids_.use.krylov != KrylovLevel::none;
    const GridMemory here = this->memory(schemes_by_level(tables));
    const double fields = comm.max(solves ? here.bytes : 0.0);
    const double arrays = comm.max(here.arrays);
    Prediction prediction;
    if (predicts(resolved_))
        prediction = mode_.predict(*this, tables, comm, memory, progress);
    else if (!grids_.use.solvers.empty())
        prediction.why_not = why_no_machine_computes(resolved_);
    DryRun dry;
    if (comm.rank() == 0)
        dry = text_and_records(grids_, finest, resolved_, tables, fields, arrays, prediction);
    mode_.add_to_dry_run(*this, comm, dry);
    return dry;
}

}  // namespace keel
