#include "miniapp/schemes/scheme_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "miniapp/report/measure.hpp"
#include "miniapp/setup/machine_file.hpp"
#include "miniapp/setup/modes.hpp"
#include "miniapp/setup/simulation.hpp"

namespace keel {
namespace {

std::string pattern_name(const SchemeTable& table) {
    const GhostUse& use = table.use;
    if (of_matrix(use.purpose)) return fmt::format("t = {}", table.columns);
    if (moves_boxes(use.purpose)) return use.purpose == Purpose::to_bottom ? "there" : "back";
    constexpr const char* marks[] = {"", " i", " p"};
    return fmt::format("{} {}{}", use.neighbours == Neighbours::all ? "26" : "6", use.depth,
                       marks[static_cast<std::size_t>(use.purpose)]);
}

std::string microseconds(const std::optional<double>& seconds) {
    return seconds ? fmt::format("{:.2f}", *seconds * 1e6) : "-";
}

constexpr const char* neighbours_name(Neighbours neighbours) {
    return neighbours == Neighbours::all ? "all" : "faces";
}

std::optional<double> predicted(const SchemeRow& row) {
    return row.time ? std::optional(row.time->total()) : std::nullopt;
}

// By how much the closed form is off the time of the plan.
std::string difference(const SchemeRow& row) {
    if (!row.closed_form || !row.time) return "-";
    return fmt::format("{:+.0f} %", 100 * (*row.closed_form / row.time->total() - 1));
}

bool have_closed_forms(const std::vector<SchemeTable>& tables) {
    return std::ranges::any_of(tables, [](const SchemeTable& table) {
        return std::ranges::any_of(table.rows,
                                   [](const SchemeRow& row) { return row.closed_form.has_value(); });
    });
}

}  // namespace

const char* name(Purpose purpose) {
    constexpr const char* names[] = {"stencil", "interpolation", "powers",     "product",
                                     "solve",   "to_bottom",     "from_bottom"};
    return names[static_cast<std::size_t>(purpose)];
}

std::optional<double> SchemeTable::least(std::size_t row) const {
    if (rounds.empty()) return {};
    return *std::min_element(rounds[row].begin(), rounds[row].end());
}

std::optional<std::size_t> chosen_before_run(const Parameters& parameters, std::span<const SchemeRow> rows) {
    if (parameters.run.mode == Mode::exchange || parameters.comm.scheme == SchemeKey::tuned) return {};
    if (parameters.comm.scheme == SchemeKey::model)
        return static_cast<std::size_t>(&fastest(rows) - rows.data());
    const std::string wanted = name(hierarchy_options(parameters).scheme);
    const auto found = std::find_if(rows.begin(), rows.end(),
                                    [&](const SchemeRow& row) { return name(row.scheme) == wanted; });
    // The staged axes carry ghosts only; anything else travels by the standard scheme then.
    return found == rows.end() ? 0 : static_cast<std::size_t>(found - rows.begin());
}

bool schemes_matter(const Parameters& parameters, const Topology& topology) {
    return topology.nodes() > 1 || !parameters.comm.machine.empty() ||
           parameters.comm.scheme >= SchemeKey::model || parameters.run.mode == Mode::exchange;
}

const char* chooser(const Parameters& parameters) {
    return parameters.comm.scheme == SchemeKey::model   ? "model"
           : parameters.comm.scheme == SchemeKey::tuned ? "tuned"
                                                        : "deck";
}

std::string choices_text(const Parameters& parameters, const std::vector<SchemeTable>& tables,
                         const std::vector<std::optional<double>>& in_run) {
    constexpr const char* line = "{:>5} {:>8} {:<18} {:<9} {:>12} {:>12} {:>12}\n";
    std::string text =
        "Communication schemes: microseconds of an exchange\n" +
        fmt::format(line, "level", "ghosts", "scheme", "chosen by", "predicted", "when tried", "in the run");
    for (const SchemeTable& table : tables) {
        if (!table.chosen) continue;
        const auto level = static_cast<std::size_t>(table.use.level);
        // The ledger does not tell apart what a level exchanges for several purposes.
        const auto here = [&](const SchemeTable& other) { return other.use.level == table.use.level; };
        const bool shown = level < in_run.size() && (table.use.purpose == Purpose::product ||
                                                     std::ranges::count_if(tables, here) == 1);
        text += fmt::format(line, level, pattern_name(table), name(table.rows[*table.chosen].scheme),
                            chooser(parameters), microseconds(predicted(table.rows[*table.chosen])),
                            microseconds(table.least(*table.chosen)),
                            microseconds(shown ? in_run[level] : std::nullopt));
    }
    return text +
           "when tried: the fastest round of the slowest rank; in the run: mean over ranks and exchanges of "
           "the level, waiting for others included\n";
}

std::vector<GhostUse> ghost_uses(const Parameters& parameters, const Layout& finest) {
    const HierarchyOptions options = hierarchy_options(parameters);
    std::vector<GhostUse> uses;
    Layout layout = finest;
    const auto widths = level_widths(finest.width(), options.bottom_box);
    for (int level = 0; level < static_cast<int>(widths.size()); ++level) {
        if (level > 0) layout = layout.coarsened();
        uses.push_back({level, Purpose::stencil, layout, options.ghost_depth, options.neighbours});
        if (options.all_ghosts && level > 0)
            uses.push_back({level, Purpose::interpolation, layout, 1, Neighbours::all});
        if (options.bottom_ghosts > 0 && layout.width() == options.bottom_box)
            uses.push_back({level, Purpose::powers, layout, options.bottom_ghosts, Neighbours::all});
    }
    if (options.bottom_place == BottomPlace::distributed) return uses;
    // Powers are then taken where the level is solved on, of ghosts that travel as this level's others do.
    if (uses.back().purpose == Purpose::powers) uses.pop_back();
    const int bottom = uses.back().level;
    uses.push_back({bottom, Purpose::to_bottom, layout, 0});
    if (options.bottom_place != BottomPlace::replicate)
        uses.push_back({bottom, Purpose::from_bottom, layout, 0});
    return uses;
}

std::size_t columns_of(const Parameters& parameters, const GhostUse& use) {
    const int at_once = use.purpose == Purpose::powers && parameters.run.mode != Mode::exchange
                            ? powers_need(parameters).at_once
                            : parameters.problem.columns;
    return static_cast<std::size_t>(at_once);
}

BoxPattern boxes_moved(const Parameters& parameters, const GhostUse& use) {
    const BottomMove move(use.layout, bottom_place(parameters), parameters.multigrid.bottom_ranks);
    const auto values = static_cast<int>(cube(use.layout.width()).cells());
    return use.purpose == Purpose::to_bottom ? move.there(values) : move.back(values);
}

Plan plan_of(const Parameters& parameters, const GhostUse& use, const Topology& topology,
             const SchemeOptions& scheme, OneRank rank) {
    if (moves_boxes(use.purpose)) return make_plan(boxes_moved(parameters, use), topology, scheme, rank);
    return make_plan(ghost_pattern(use.layout, use.depth, use.neighbours, scheme), topology, scheme, rank);
}

std::optional<Model> model_of(const Parameters& parameters) {
    if (parameters.comm.machine.empty()) return {};
    const bool device = hierarchy_options(parameters).exchange.wire == Wire::direct;
    return Model{read_machine(parameters.comm.machine).machine, device ? Memory::device : Memory::host};
}

std::vector<LevelSchemes> schemes_by_level(const std::vector<SchemeTable>& tables) {
    std::vector<LevelSchemes> schemes;
    for (const SchemeTable& table : tables) {
        if (!table.chosen) return {};
        const SchemeOptions& scheme = table.rows[*table.chosen].scheme;
        schemes.resize(static_cast<std::size_t>(table.use.level) + 1);
        switch (table.use.purpose) {
            case Purpose::stencil:
                schemes.back().ghosts = scheme;
                break;
            case Purpose::interpolation:
                schemes.back().all_ghosts = scheme;
                break;
            case Purpose::powers:
                schemes.back().deep_ghosts = scheme;
                break;
            case Purpose::to_bottom:
                schemes.back().to_bottom = scheme;
                break;
            case Purpose::from_bottom:
                schemes.back().from_bottom = scheme;
                break;
            case Purpose::product:
            case Purpose::solve:
                break;
        }
    }
    return schemes;
}

std::vector<SchemeTable> plan_all_schemes(const Parameters& parameters, const Layout& finest,
                                          const Setup& setup) {
    SchemeOptions options = hierarchy_options(parameters).scheme;
    std::vector<SchemeTable> tables;
    for (const GhostUse& use : ghost_uses(parameters, finest)) {
        options.columns = columns_of(parameters, use);
        const auto rows = moves_boxes(use.purpose)
                              ? compare(boxes_moved(parameters, use), candidates_without_axes(options), setup)
                              : compare(use.layout, use.depth, use.neighbours, candidates(options), setup);
        tables.push_back({use, options.columns, rows, {}, chosen_before_run(parameters, rows)});
    }
    return tables;
}

std::string scheme_tables_text(const std::vector<SchemeTable>& tables) {
    if (tables.empty()) return "";
    const bool matrix = of_matrix(tables.front().use.purpose);
    std::string text =
        fmt::format("Schemes, one exchange of {}; off-node: between nodes; most: of the rank that has most\n",
                    matrix                        ? "t vectors"
                    : tables.front().columns == 1 ? "1 field"
                                                  : fmt::format("{} fields", tables.front().columns));
    const bool closed_forms = have_closed_forms(tables);
    const auto more = [&](const std::string& seconds, const std::string& differs) {
        return closed_forms ? fmt::format(" {:>11} {:>8}", seconds, differs) : "";
    };
    constexpr const char* line =
        "{:>5} {:>8} {:<18} {:>9} {:>9} {:>12} {:>12} {:>12} {:>8} {:>8} {:>10} {:>10} {:>11}{} {:>9} "
        "{:>9}\n";
    text += fmt::format(line, "level", "ghosts", "scheme", "messages", "off-node", "bytes", "off-node",
                        "duplicates", "most", "most", "most bytes", "most bytes", "predicted",
                        more("closed form", "differs"), "measured", "measured");
    text += fmt::format(line, "", matrix ? "" : "of depth", "", "", "", "", "", "removed", "sent", "received",
                        "sent", "received", "us", more("us", ""), "least us", "median us");
    for (const SchemeTable& table : tables) {
        const SchemeRow* best = table.rows.front().time ? &fastest(table.rows) : nullptr;
        for (std::size_t n = 0; n < table.rows.size(); ++n) {
            const SchemeRow& row = table.rows[n];
            text += fmt::format(
                line, table.use.level, pattern_name(table), name(row.scheme) + (&row == best ? " *" : ""),
                row.all.messages, row.all.off_node_messages, row.all.bytes, row.all.off_node_bytes,
                row.duplicate_bytes, row.most_sent.off_node_messages, row.most_received.off_node_messages,
                row.most_sent.off_node_bytes, row.most_received.off_node_bytes, microseconds(predicted(row)),
                more(microseconds(row.closed_form), difference(row)), microseconds(table.least(n)),
                microseconds(table.rounds.empty() ? std::nullopt : std::optional(median(table.rounds[n]))));
        }
    }
    const auto powers = std::ranges::find(tables, Purpose::powers,
                                          [](const SchemeTable& table) { return table.use.purpose; });
    const auto moved =
        std::ranges::any_of(tables, [](const SchemeTable& table) { return moves_boxes(table.use.purpose); });
    text +=
        matrix ? "ghosts: entries that are rows of other ranks"
               : "ghosts: of the boxes across 6 faces or of all 26 around, and layers (i: for interpolation)";
    if (powers != tables.end())
        text += fmt::format("; p: for powers of the operator, {} fields", powers->columns);
    if (moved) text += "; there, back: the boxes of the bottom level to where it is solved on";
    return text + "; most sent and received: between nodes\n" +
           (tables.front().rows.front().time ? "*: least predicted time\n" : "") +
           (closed_forms
                ? "closed form: the papers' equation for the scheme, which knows no receives and no messages "
                  "that need not leave a node; differs: from the predicted time\n"
                : "");
}

std::string scheme_json_lines(const Parameters& parameters, const std::vector<SchemeTable>& tables) {
    using Json = nlohmann::ordered_json;
    const auto volume = [](const Volume& e) {
        return Json{{"messages", e.messages},
                    {"bytes", e.bytes},
                    {"off_node_messages", e.off_node_messages},
                    {"off_node_bytes", e.off_node_bytes}};
    };
    std::string lines;
    for (const SchemeTable& table : tables) {
        // What only a grid has.
        const auto grid = [&](const auto& value) {
            return of_matrix(table.use.purpose) ? Json() : Json(value);
        };
        const auto ghosts = [&](const auto& value) {
            return moves_boxes(table.use.purpose) ? Json() : grid(value);
        };
        for (std::size_t n = 0; n < table.rows.size(); ++n) {
            const SchemeRow& row = table.rows[n];
            Json record{{"record", "scheme"},
                        {"level", table.use.level},
                        {"cells", grid(table.use.layout.cells())},
                        {"box", grid(table.use.layout.width())},
                        {"neighbours", ghosts(neighbours_name(table.use.neighbours))},
                        {"depth", ghosts(table.use.depth)},
                        {"purpose", name(table.use.purpose)},
                        {"columns", table.columns},
                        {"scheme", name(row.scheme)},
                        {"all", volume(row.all)},
                        {"most_sent", volume(row.most_sent)},
                        {"most_received", volume(row.most_received)},
                        {"duplicate_bytes", row.duplicate_bytes},
                        {"chosen_by", table.chosen == n ? Json(chooser(parameters)) : Json()},
                        {"predicted_seconds", row.time ? Json(row.time->total()) : Json()},
                        {"predicted_between_nodes", row.time ? Json(row.time->between_nodes()) : Json()},
                        {"closed_form_seconds", row.closed_form ? Json(*row.closed_form) : Json()},
                        {"rounds", table.rounds.empty() ? Json() : Json(table.rounds[n])}};
            lines += record.dump() + "\n";
        }
    }
    return lines;
}

}  // namespace keel
