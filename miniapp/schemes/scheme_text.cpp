// The tables of communication schemes, as text and as records.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "miniapp/deck/text/text.hpp"
#include "miniapp/report/records/records.hpp"
#include "miniapp/schemes/scheme_table.hpp"

namespace keel {
namespace {

// "26 1 i": neighbours, layers and, where that is not the operator, who needs them.
std::string pattern_name(const SchemeUse& use) {
    if (const VectorEntries* entries = use.entries()) {
        using Use = VectorEntries::Use;
        return entries->use == Use::amg_values         ? "values"
               : entries->use == Use::amg_rows         ? "rows of P"
               : entries->use == Use::amg_transfers    ? "P"
               : entries->use == Use::amg_returns      ? "P^T"
               : entries->use == Use::amg_partial_rows ? "P^T A P"
                                                       : fmt::format("t = {}", use.columns);
    }
    if (const MovedBoxes* boxes = use.moves()) return boxes->way == Way::there ? "there" : "back";
    const GhostCells& ghosts = *use.ghosts();
    const char* const mark = ghosts.purpose == GhostCells::Purpose::interpolation ? " i"
                             : ghosts.purpose == GhostCells::Purpose::smoothing   ? " s"
                             : ghosts.purpose == GhostCells::Purpose::powers      ? " p"
                                                                                  : "";
    return fmt::format("{} {}{}", number_of(ghosts.neighbours, use.layout.dimensions()), ghosts.depth, mark);
}

std::string microseconds(const std::optional<double>& seconds) {
    return seconds ? fmt::format("{:.2f}", *seconds * 1e6) : "-";
}

std::optional<double> predicted(const SchemeRow& row) {
    return row.time ? std::optional(row.time->total()) : std::nullopt;
}
std::optional<double> predicted_near(const SchemeRow& row) {
    return row.near ? std::optional(row.near->total()) : std::nullopt;
}

// By how much the closed form is off the time of the plan.
std::string difference(const SchemeRow& row) {
    if (!row.closed_form || !row.time) return "-";
    return fmt::format("{:+.0f} %", 100 * (*row.closed_form / row.time->total() - 1));
}

bool sockets_matter(const std::vector<SchemeTable>& tables) {
    return std::ranges::any_of(tables,
                               [](const SchemeTable& table) { return table.rows.front().near.has_value(); });
}

// Where the quickest scheme depends on which sockets ranks are on.
std::string socket_text(const SchemeTable& table) {
    const auto quickest = [&](auto seconds) {
        return name(std::ranges::min_element(table.rows, {}, seconds)->scheme);
    };
    const std::string apart = quickest([](const SchemeRow& row) { return row.time->total(); });
    const std::string together = quickest([](const SchemeRow& row) { return row.near->total(); });
    if (apart == together) return "";
    return fmt::format(
        "level {}, {}: {} is quickest if no two ranks share a socket, {} if all of a node do\n",
        table.use.level, pattern_name(table.use), apart, together);
}

// Where the closed forms would choose another scheme than the times of the plans, of those that have one.
std::string closed_form_text(const SchemeTable& table) {
    std::vector<const SchemeRow*> rows;
    for (const SchemeRow& row : table.rows)
        if (row.closed_form && row.time) rows.push_back(&row);
    if (rows.empty()) return "";
    const auto least = [&](auto seconds) { return *std::ranges::min_element(rows, {}, seconds); };
    const SchemeRow* const form = least([](const SchemeRow* row) { return *row->closed_form; });
    const SchemeRow* const plan = least([](const SchemeRow* row) { return row->seconds(); });
    if (form->scheme.scheme == plan->scheme.scheme) return "";
    return fmt::format(
        "level {}, {}: closed forms would choose {}, {:.2f} times as long as {} by their plans\n",
        table.use.level, pattern_name(table.use), name(form->scheme), form->seconds() / plan->seconds(),
        name(plan->scheme));
}

bool have_closed_forms(const std::vector<SchemeTable>& tables) {
    return std::ranges::any_of(tables, [](const SchemeTable& table) {
        return std::ranges::any_of(table.rows,
                                   [](const SchemeRow& row) { return row.closed_form.has_value(); });
    });
}

// Who sends to other nodes where each rank has a device, by closed forms.
struct DeviceWay {
    const char* name;
    double DeviceForms::*seconds;
};
constexpr DeviceWay device_ways[] = {
    {"straight", &DeviceForms::straight}, {"staged", &DeviceForms::staged}, {"shared", &DeviceForms::shared}};
constexpr DeviceWay device_ways_as_printed[] = {
    device_ways[0], device_ways[1], {"shared", &DeviceForms::shared_as_printed}};
const char* quickest_of(const DeviceForms& forms, std::span<const DeviceWay> ways) {
    return std::ranges::min_element(ways, {}, [&](const DeviceWay& way) { return forms.*way.seconds; })->name;
}

std::string device_forms_text(const std::vector<SchemeTable>& tables) {
    constexpr const char* line = "{:>5} {:>8} {:>10} {:>12} {:>12} {:>12} {:>12} {:>12} {:>10} {:>10}\n";
    std::string text;
    int helpers = 0;
    for (const SchemeTable& table : tables) {
        const std::optional<DeviceForms>& forms = table.rows.front().devices;
        if (!forms) continue;
        helpers = forms->helpers;
        text += fmt::format(line, table.use.level, pattern_name(table.use), forms->neighbours,
                            forms->message_bytes, microseconds(forms->straight), microseconds(forms->staged),
                            microseconds(forms->shared), microseconds(forms->shared_as_printed),
                            quickest_of(*forms, device_ways), quickest_of(*forms, device_ways_as_printed));
    }
    if (text.empty()) return "";
    return "Closed forms if each rank had a device: microseconds of an exchange\n" +
           fmt::format(line, "level", "ghosts", "neighbours", "bytes", "straight", "staged", "shared",
                       "as printed", "chosen", "as printed") +
           text +
           fmt::format(
               "straight: from managed memory; staged: copied, and sent by the rank; shared: copied, and "
               "sent by it and {} a device; neighbours, bytes: that a rank and its mean message have; as "
               "printed: (5.14) to (5.21), which charge the bytes of several messages once\n",
               counted(helpers, "helper"));
}

Json json_of(const std::optional<DeviceForms>& forms) {
    if (!forms) return {};
    return {{"neighbours", forms->neighbours},
            {"message_bytes", forms->message_bytes},
            {"helpers", forms->helpers},
            {"straight_seconds", forms->straight},
            {"staged_seconds", forms->staged},
            {"shared_seconds", forms->shared},
            {"shared_seconds_as_printed", forms->shared_as_printed},
            {"chosen", quickest_of(*forms, device_ways)},
            {"chosen_as_printed", quickest_of(*forms, device_ways_as_printed)}};
}

}  // namespace

std::string planned_text(const PlannedNodes& planned) {
    if (planned.nodes == 0) return "";
    return planned.sampled
               ? fmt::format(
                     " on {} nodes that were drawn, whose busiest rank has at most as much as that of all",
                     planned.nodes)
               : fmt::format(" on {} nodes, which stand for all", planned.nodes);
}

std::string choices_text(SchemeChooser chooser, const std::vector<SchemeTable>& tables,
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
        const bool shown =
            level < in_run.size() &&
            ((table.use.entries() && table.use.entries()->use == VectorEntries::Use::product) ||
             std::ranges::count_if(tables, here) == 1);
        text += fmt::format(line, level, pattern_name(table.use), name(table.rows[*table.chosen].scheme),
                            name(chooser), microseconds(predicted(table.rows[*table.chosen])),
                            microseconds(table.least(*table.chosen)),
                            microseconds(shown ? in_run[level] : std::nullopt));
    }
    return text +
           "when tried: the fastest round of the slowest rank; in the run: mean over ranks and exchanges of "
           "the level, waiting for others included\n";
}

std::string scheme_tables_text(const std::vector<SchemeTable>& tables) {
    if (tables.empty()) return "";
    const bool matrix = tables.front().use.entries();
    std::string text =
        fmt::format("Schemes, one exchange of {}; off-node: between nodes; most: of the rank that has most\n",
                    matrix                            ? "t vectors"
                    : tables.front().use.columns == 1 ? "1 field"
                                                      : fmt::format("{} fields", tables.front().use.columns));
    const bool closed_forms = have_closed_forms(tables);
    const auto more = [&](const std::string& seconds, const std::string& differs) {
        return closed_forms ? fmt::format(" {:>11} {:>8}", seconds, differs) : "";
    };
    const bool sockets = sockets_matter(tables);
    const auto near = [&](const std::string& seconds) {
        return sockets ? fmt::format(" {:>13}", seconds) : "";
    };
    constexpr const char* line =
        "{:>5} {:>8} {:<18} {:>9} {:>9} {:>12} {:>12} {:>12} {:>8} {:>8} {:>10} {:>10} {:>11}{}{} {:>9} "
        "{:>9}\n";
    text += fmt::format(line, "level", "ghosts", "scheme", "messages", "off-node", "bytes", "off-node",
                        "duplicates", "most", "most", "most bytes", "most bytes", "predicted",
                        near("on 1 socket"), more("closed form", "differs"), "measured", "measured");
    text += fmt::format(line, "", matrix ? "" : "of depth", "", "", "", "", "", "removed", "sent", "received",
                        "sent", "received", "us", near("us"), more("us", ""), "least us", "median us");
    for (const SchemeTable& table : tables) {
        const SchemeRow* best = table.rows.front().time ? &fastest(table.rows) : nullptr;
        for (std::size_t n = 0; n < table.rows.size(); ++n) {
            const SchemeRow& row = table.rows[n];
            text += fmt::format(
                line, table.use.level, pattern_name(table.use), name(row.scheme) + (&row == best ? " *" : ""),
                row.all.messages, row.all.off_node_messages, row.all.bytes, row.all.off_node_bytes,
                row.duplicate_bytes, row.most_sent.off_node_messages, row.most_received.off_node_messages,
                row.most_sent.off_node_bytes, row.most_received.off_node_bytes, microseconds(predicted(row)),
                near(microseconds(predicted_near(row))), more(microseconds(row.closed_form), difference(row)),
                microseconds(table.least(n)),
                microseconds(table.rounds.empty() ? std::nullopt : std::optional(median(table.rounds[n]))));
        }
    }
    std::string depends;
    for (const SchemeTable& table : tables)
        if (table.rows.front().near) depends += socket_text(table);
    std::string closed_forms_choose;
    for (const SchemeTable& table : tables) closed_forms_choose += closed_form_text(table);
    const auto powers = std::ranges::find_if(
        tables, [](const SchemeTable& table) { return table.use.is(GhostCells::Purpose::powers); });
    const bool moved =
        std::ranges::any_of(tables, [](const SchemeTable& table) { return table.use.moves() != nullptr; });
    const std::size_t dimensions = tables.front().use.layout.dimensions();
    text += matrix ? "ghosts: entries that are rows of other ranks"
                   : fmt::format(
                         "ghosts: of the boxes across {} faces or of all {} around, and layers (i: for "
                         "interpolation, s: for fused half sweeps)",
                         number_of(Neighbours::faces, dimensions), number_of(Neighbours::all, dimensions));
    if (powers != tables.end())
        text += fmt::format("; p: for powers of the operator, {} fields", powers->use.columns);
    if (moved) text += "; there, back: the boxes of a level to the ranks that work on it";
    return text + "; most sent and received: between nodes\n" +
           (sockets ? "predicted: if no two ranks share a socket; on 1 socket: if all of a node do; "
                      "comm.ranks_per_socket says how many do\n"
                    : "") +
           (sockets                            ? "*: least mean of both\n"
            : tables.front().rows.front().time ? "*: least predicted time\n"
                                               : "") +
           depends +
           (closed_forms
                ? "closed form: the papers' equation for the scheme, which knows no receives and no messages "
                  "that need not leave a node; differs: from the predicted time\n"
                : "") +
           closed_forms_choose + device_forms_text(tables);
}

std::string schemes_text(SchemeChooser chooser, const std::vector<SchemeTable>& tables,
                         const std::vector<std::optional<double>>& in_run, double tuning_seconds) {
    if (tables.empty()) return "";
    std::string text;
    if (tables.front().chosen) text = choices_text(chooser, tables, in_run) + "\n";
    text += scheme_tables_text(tables);
    if (tuning_seconds > 0) text += fmt::format("trying the schemes took {}\n", seconds_text(tuning_seconds));
    return text + "\n";
}

std::string scheme_records(SchemeChooser chooser, const std::vector<SchemeTable>& tables) {
    std::string lines;
    for (const SchemeTable& table : tables) {
        const SchemeUse& use = table.use;
        const GhostCells* ghosts = use.ghosts();
        const bool grid = !use.entries();
        for (std::size_t n = 0; n < table.rows.size(); ++n) {
            const SchemeRow& row = table.rows[n];
            Json record{{"record", "scheme"},
                        {"level", use.level},
                        {"cells", grid ? Json(use.layout.cells()) : Json()},
                        {"box", grid ? Json(use.layout.width()) : Json()},
                        {"neighbours", ghosts ? Json(name(ghosts->neighbours)) : Json()},
                        {"depth", ghosts ? Json(ghosts->depth) : Json()},
                        {"purpose", purpose_of(use)},
                        {"columns", use.columns},
                        {"scheme", name(row.scheme)},
                        {"all", volume_json(row.all)},
                        {"all_margin", row.margin ? volume_json(*row.margin) : Json()},
                        {"most_sent", volume_json(row.most_sent)},
                        {"most_received", volume_json(row.most_received)},
                        {"duplicate_bytes", row.duplicate_bytes},
                        {"chosen_by", table.chosen == n ? Json(name(chooser)) : Json()},
                        {"predicted_seconds", row.time ? Json(row.time->total()) : Json()},
                        {"predicted_on_one_socket", number_or_null(predicted_near(row))},
                        {"predicted_between_nodes", row.time ? Json(row.time->between_nodes()) : Json()},
                        {"closed_form_seconds", number_or_null(row.closed_form)},
                        {"device_forms", json_of(row.devices)},
                        {"rounds", table.rounds.empty() ? Json() : Json(table.rounds[n])}};
            lines += line_of(record);
        }
    }
    return lines;
}

}  // namespace keel
