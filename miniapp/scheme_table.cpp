#include "miniapp/scheme_table.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "miniapp/machine_file.hpp"
#include "miniapp/simulation.hpp"

namespace keel {
namespace {

std::string pattern_name(const GhostUse& use) {
    constexpr const char* marks[] = {"", " i", " p"};
    return fmt::format("{} {}{}", use.neighbours == Neighbours::all ? "26" : "6", use.depth,
                       marks[static_cast<std::size_t>(use.purpose)]);
}

std::string microseconds(const std::optional<double>& seconds) {
    return seconds ? fmt::format("{:.2f}", *seconds * 1e6) : "-";
}

}  // namespace

const char* name(Purpose purpose) {
    constexpr const char* names[] = {"stencil", "interpolation", "powers"};
    return names[static_cast<std::size_t>(purpose)];
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
    return uses;
}

std::optional<Model> model_of(const Parameters& parameters) {
    if (parameters.comm.machine.empty()) return {};
    const bool device = hierarchy_options(parameters).exchange.wire == Wire::direct;
    return Model{read_machine(parameters.comm.machine).machine, device ? Memory::device : Memory::host};
}

std::vector<SchemeTable> plan_all_schemes(const Parameters& parameters, const Layout& finest,
                                          const Setup& setup) {
    const SchemeOptions options = hierarchy_options(parameters).scheme;
    std::vector<SchemeTable> tables;
    for (const GhostUse& use : ghost_uses(parameters, finest))
        tables.push_back({use, options.columns,
                          compare(use.layout, use.depth, use.neighbours, candidates(options), setup)});
    return tables;
}

std::string scheme_tables_text(const std::vector<SchemeTable>& tables) {
    if (tables.empty()) return "";
    std::string text = fmt::format(
        "Schemes, one exchange of {} field{}; off-node: between nodes; most: of the rank that has most\n",
        tables.front().columns, tables.front().columns == 1 ? "" : "s");
    constexpr const char* line =
        "{:>5} {:>8} {:<18} {:>9} {:>9} {:>12} {:>12} {:>12} {:>8} {:>8} {:>10} {:>10} {:>11}\n";
    text += fmt::format(line, "level", "ghosts", "scheme", "messages", "off-node", "bytes", "off-node",
                        "duplicates", "most", "most", "most bytes", "most bytes", "predicted");
    text += fmt::format(line, "", "of depth", "", "", "", "", "", "removed", "sent", "received", "sent",
                        "received", "us");
    for (const SchemeTable& table : tables) {
        const SchemeRow* best = table.rows.front().time ? &fastest(table.rows) : nullptr;
        for (const SchemeRow& row : table.rows)
            text += fmt::format(
                line, table.use.level, pattern_name(table.use), name(row.scheme) + (&row == best ? " *" : ""),
                row.all.messages, row.all.off_node_messages, row.all.bytes, row.all.off_node_bytes,
                row.duplicate_bytes, row.most_sent.off_node_messages, row.most_received.off_node_messages,
                row.most_sent.off_node_bytes, row.most_received.off_node_bytes,
                microseconds(row.time ? std::optional(row.time->total()) : std::nullopt));
    }
    return text +
           "ghosts: of the boxes across 6 faces or of all 26 around, and layers (i: for interpolation, p: "
           "for powers of the operator); most "
           "sent and received: between nodes\n" +
           (tables.front().rows.front().time ? "*: least predicted time\n" : "");
}

std::string scheme_json_lines(const std::vector<SchemeTable>& tables) {
    using Json = nlohmann::ordered_json;
    const auto ends = [](const Ends& e) {
        return Json{{"messages", e.messages},
                    {"bytes", e.bytes},
                    {"off_node_messages", e.off_node_messages},
                    {"off_node_bytes", e.off_node_bytes}};
    };
    std::string lines;
    for (const SchemeTable& table : tables)
        for (const SchemeRow& row : table.rows) {
            Json record{{"record", "scheme"},
                        {"level", table.use.level},
                        {"cells", table.use.layout.cells()},
                        {"box", table.use.layout.width()},
                        {"neighbours", table.use.neighbours == Neighbours::all ? "all" : "faces"},
                        {"depth", table.use.depth},
                        {"purpose", name(table.use.purpose)},
                        {"columns", table.columns},
                        {"scheme", name(row.scheme)},
                        {"all", ends(row.all)},
                        {"most_sent", ends(row.most_sent)},
                        {"most_received", ends(row.most_received)},
                        {"duplicate_bytes", row.duplicate_bytes},
                        {"predicted_seconds", row.time ? Json(row.time->total()) : Json()},
                        {"predicted_between_nodes", row.time ? Json(row.time->between_nodes()) : Json()}};
            lines += record.dump() + "\n";
        }
    return lines;
}

}  // namespace keel
