// The tables of communication schemes, as text and as records.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "miniapp/deck/text/text.hpp"
#include "miniapp/report/records/records.hpp"
#include "miniapp/report/tables/table.hpp"
#include "miniapp/schemes/scheme_table.hpp"

namespace keel {
namespace {

// The exchange by name: "stencil", "smoothing, 2 layers", "to bottom", "product, 3 vectors".
std::string exchange_text(const SchemeUse& use) {
    std::string text = purpose_of(use);
    std::ranges::replace(text, '_', ' ');
    if (const GhostCells* ghosts = use.ghosts(); ghosts && ghosts->depth > 1)
        text += ", " + counted(ghosts->depth, "layer");
    const char* const what = use.entries() ? "vector" : "field";
    if (use.columns > 1) text += ", " + counted(static_cast<long>(use.columns), what);
    return text;
}

std::optional<double> predicted(const SchemeRow& row) {
    return row.time ? std::optional(row.time->total()) : std::nullopt;
}
std::optional<double> predicted_near(const SchemeRow& row) {
    return row.near ? std::optional(row.near->total()) : std::nullopt;
}

bool sockets_matter(const std::vector<SchemeTable>& tables) {
    return std::ranges::any_of(tables,
                               [](const SchemeTable& table) { return table.rows.front().near.has_value(); });
}

// A line if the fastest scheme depends on which sockets ranks are on; else empty.
std::string socket_text(const SchemeTable& table) {
    const auto fastest_by = [&](auto seconds) {
        return name(std::ranges::min_element(table.rows, {}, seconds)->scheme);
    };
    const std::string apart = fastest_by([](const SchemeRow& row) { return row.time->total(); });
    const std::string together = fastest_by([](const SchemeRow& row) { return row.near->total(); });
    if (apart == together) return "";
    return fmt::format("level {}, {}: {} is fastest if no two ranks share a socket, {} if all of a node do\n",
                       table.use.level, exchange_text(table.use), apart, together);
}

Json counts_json(const std::optional<PatternCounts>& counts) {
    if (!counts) return {};
    return {{"messages", counts->messages},
            {"bytes", counts->bytes},
            {"bytes_per_rank", counts->bytes_per_rank},
            {"bytes_per_node", counts->bytes_per_node},
            {"bytes_per_node_sent", counts->bytes_per_node_sent},
            {"nodes_per_rank", counts->nodes_per_rank},
            {"nodes_per_node", counts->nodes_per_node},
            {"bytes_per_node_pair", counts->bytes_per_node_pair}};
}

bool tries_transports(const SchemeTable& table) {
    return table.rows.front().scheme.carrier != table.rows.back().scheme.carrier;
}

// The transport of a row; a column where several were tried.
Cell transport_cell(const SchemeTable& table, std::size_t n) {
    const std::string word = name(table.rows[n].scheme.carrier);
    return tries_transports(table) ? Cell("transport", word, "transport") : Cell("transport", word);
}

Json pairs_json(const std::vector<SentToRank>& pairs) {
    Json list = Json::array();
    for (const SentToRank& pair : pairs)
        list.push_back({pair.source, pair.target, pair.messages, pair.bytes});
    return list;
}

// A scheme as a row of the report and as a record; `fastest`: it has the least predicted time.
Row scheme_row(SchemeChooser chooser, const SchemeTable& table, std::size_t n, bool fastest) {
    const SchemeUse& use = table.use;
    const SchemeRow& row = table.rows[n];
    const GhostCells* const ghosts = use.ghosts();
    const bool grid = !use.entries();
    const auto count = [](double value, const char* heading, Unit unit = Unit::count) {
        return Cell("", value, heading, unit, Kind::counted);
    };
    const auto us = [](const char* field, const std::optional<double>& seconds, const char* heading,
                       Kind kind) {
        return Cell(field, number_or_null(seconds), heading, Unit::microseconds, kind);
    };
    Row cells{{"level", use.level, "level"},
              {"cells", grid ? Json(use.layout.cells()) : Json()},
              {"box", grid ? Json(use.layout.width()) : Json()},
              {"neighbours", ghosts ? Json(name(ghosts->neighbours)) : Json()},
              {"depth", ghosts ? Json(ghosts->depth) : Json()},
              {"purpose", purpose_of(use), "exchange", exchange_text(use)},
              {"columns", use.columns},
              {"scheme", name(row.scheme), "scheme", name(row.scheme) + (fastest ? " *" : "")},
              transport_cell(table, n),
              {"all", volume_json(row.all)},
              count(row.all.messages, "all ranks\n\nmessages"),
              count(row.all.off_node_messages, "all ranks\noff-node\nmessages"),
              count(row.all.bytes, "all ranks\n\nbytes", Unit::bytes),
              count(row.all.off_node_bytes, "all ranks\noff-node\nbytes", Unit::bytes),
              {"most_sent", volume_json(row.most_sent)},
              count(row.most_sent.off_node_messages, "busiest rank\noff-node\nmessages"),
              count(row.most_sent.off_node_bytes, "busiest rank\noff-node\nbytes", Unit::bytes),
              {"most_received", volume_json(row.most_received)},
              {"chosen_by", table.chosen == n ? Json(name(chooser)) : Json(),
               chooser == SchemeChooser::nobody ? "" : "chosen by"},
              us("predicted_seconds", predicted(row), "time\nus", Kind::predicted),
              us("predicted_on_one_socket", predicted_near(row), "time\non 1 socket\nus", Kind::predicted),
              {"predicted_between_nodes", row.time ? Json(row.time->between_nodes()) : Json()},
              us("", table.least(n), "time\nus", Kind::measured),
              {"pattern", counts_json(row.pattern)},
              {"rounds", table.rounds.empty() ? Json() : Json(table.rounds[n])}};
    if (!table.pairs.empty()) cells.emplace_back("pairs", pairs_json(table.pairs[n]));
    return cells;
}

ReportTable scheme_rows(SchemeChooser chooser, const std::vector<SchemeTable>& tables) {
    const std::size_t keys = std::ranges::any_of(tables, tries_transports) ? 4 : 3;
    ReportTable rows("Schemes: one exchange of every level", "scheme", keys);
    for (const SchemeTable& table : tables) {
        const SchemeRow* const best = table.rows.front().time ? &fastest(table.rows) : nullptr;
        for (std::size_t n = 0; n < table.rows.size(); ++n)
            rows.add(scheme_row(chooser, table, n, &table.rows[n] == best));
    }
    return rows;
}

}  // namespace

std::string scheme_tables_text(const std::vector<SchemeTable>& tables, SchemeChooser chooser) {
    if (tables.empty()) return "";
    std::string text = scheme_rows(chooser, tables).print();
    if (text.empty()) return "";
    const bool sockets = sockets_matter(tables);
    if (sockets)
        text +=
            "time: if no two ranks share a socket; on 1 socket: if all of a node do; comm.ranks_per_socket "
            "says how many do; *: least mean of both\n";
    else if (tables.front().rows.front().time)
        text += "*: least predicted time\n";
    for (const SchemeTable& table : tables)
        if (table.rows.front().near) text += socket_text(table);
    return text;
}

std::string schemes_text(SchemeChooser chooser, const std::vector<SchemeTable>& tables,
                         double tuning_seconds) {
    if (tables.empty()) return "";
    std::string text = scheme_tables_text(tables, chooser);
    if (tuning_seconds > 0)
        text += fmt::format("trying the {} took {}\n",
                            tries_transports(tables.front()) ? "transports" : "schemes",
                            seconds_text(tuning_seconds));
    return text + "\n";
}

std::string scheme_remedy(const std::vector<SchemeTable>& tables, const std::vector<TimerRow>& timers) {
    std::map<int, double> gains;  // part of an exchange's time, by level
    for (const SchemeTable& table : tables) {
        if (!table.chosen || !table.rows[*table.chosen].time) return "";
        const double chosen = table.rows[*table.chosen].seconds();
        if (chosen == 0) continue;  // no messages
        const double gain = 1 - fastest(table.rows).seconds() / chosen;
        const auto found = gains.try_emplace(table.use.level, gain).first;
        found->second = std::min(found->second, gain);
    }
    double seconds = 0;
    double saved = 0;
    for (const TimerRow& row : timers) {
        seconds += row.t_mean;
        if ((row.op == name(Op::send) || row.op == name(Op::wait)) && gains.contains(row.level))
            saved += gains[row.level] * row.t_mean;
    }
    if (saved <= 0.1 * seconds) return "";
    return fmt::format("comm.scheme = \"auto\" is predicted to save {:.0f}% of the time",
                       100 * saved / seconds);
}

std::string scheme_records(SchemeChooser chooser, const std::vector<SchemeTable>& tables) {
    return scheme_rows(chooser, tables).to_json();
}

}  // namespace keel
