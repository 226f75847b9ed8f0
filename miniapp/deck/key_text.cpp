// Keys and their values as text: for --keys, the README, printed decks and JSON.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "miniapp/deck/parameters.hpp"
#include "miniapp/report/overloaded.hpp"
#include "miniapp/setup/modes.hpp"

namespace keel {
namespace {

std::string bound_text(std::string_view words, double bound) {
    return fmt::format("{} {}", words, bound);
}

std::string interval_text(const Interval& interval) {
    std::string text;
    if (std::isfinite(interval.lowest)) text = bound_text(interval.lowest_open ? ">" : ">=", interval.lowest);
    if (std::isfinite(interval.highest)) {
        text += text.empty() ? "" : " and ";
        text += bound_text(interval.highest_open ? "<" : "<=", interval.highest);
    }
    return text.empty() ? "any number" : text;
}

bool is_type_limit(std::int64_t highest) {
    return highest == std::numeric_limits<int>::max() || highest == std::numeric_limits<std::int64_t>::max();
}

std::string help_with_unit(const Key& key) {
    return key.unit.empty() ? key.help : fmt::format("{} [{}]", key.help, key.unit);
}

// Left-aligned columns two spaces apart; the last one is not padded.
std::string aligned(const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> widths(rows.front().size());
    for (const auto& row : rows) {
        for (std::size_t c = 0; c + 1 < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size() + 2);
    }
    std::string text;
    for (const auto& row : rows) {
        for (std::size_t c = 0; c < row.size(); ++c) text += fmt::format("{:{}}", row[c], widths[c]);
        text += '\n';
    }
    return text;
}

// Whether a printed deck must leave the key out: what plays no part in the run's mode, and boxes_per_rank at its default
// once problem.boxes is given; written down they would be held against the rest of the deck.
bool plays_no_part(const Key& key, const Parameters& parameters) {
    if (!why_idle(key.full_name(), parameters).empty()) return true;
    return key.full_name() == "problem.boxes_per_rank" && parameters.problem.boxes != Index{} &&
           value_of(key, parameters) == value_of(key, Parameters{});
}

}  // namespace

nlohmann::ordered_json value_of(const Key& key, const Parameters& parameters) {
    return std::visit(
        Overloaded{[&](const BoundariesKey& kind) -> nlohmann::ordered_json {
                       const auto words = kind.value.get(parameters);
                       if (words[0] == words[1] && words[1] == words[2]) return words[0];
                       return words;
                   },
                   [&](const auto& kind) -> nlohmann::ordered_json { return kind.value.get(parameters); }},
        key.kind);
}

std::string allowed_text(const Key& key) {
    return std::visit(
        Overloaded{[](const IntegerKey& kind) {
                       return is_type_limit(kind.highest)
                                  ? fmt::format(">= {}", kind.lowest)
                                  : fmt::format("from {} to {}", kind.lowest, kind.highest);
                   },
                   [](const RealKey& kind) { return interval_text(kind.allowed); },
                   [](const FlagKey&) { return std::string("true, false"); },
                   [](const ChoiceKey& kind) { return fmt::format("{}", fmt::join(kind.names, ", ")); },
                   [](const TextKey&) { return std::string("text"); },
                   [](const ListKey&) { return std::string("array of texts"); },
                   [](const TripleKey& kind) { return fmt::format("each >= {}", kind.lowest); },
                   [](const BoundariesKey& kind) { return fmt::format("{}", fmt::join(kind.names, ", ")); }},
        key.kind);
}

std::string keys_text(const Table& table) {
    const Parameters defaults;
    std::vector<std::vector<std::string>> rows;
    for (const Key& key : table.keys()) {
        rows.push_back({fmt::format("{} = {}", key.full_name(), value_of(key, defaults).dump()),
                        allowed_text(key), help_with_unit(key)});
    }
    return aligned(rows);
}

std::string keys_markdown(const Table& table) {
    const Parameters defaults;
    std::string text = "| key | default | allowed | meaning |\n| --- | --- | --- | --- |\n";
    for (const Key& key : table.keys()) {
        std::string meaning = help_with_unit(key);
        // A bare | would end the cell.
        for (auto at = meaning.find('|'); at != std::string::npos; at = meaning.find('|', at + 2)) {
            meaning.insert(at, 1, '\\');
        }
        text += fmt::format("| `{}` | `{}` | {} | {} |\n", key.full_name(), value_of(key, defaults).dump(),
                            allowed_text(key), meaning);
    }
    return text;
}

std::string print_deck(const Table& table, const Parameters& parameters) {
    std::string text;
    for (const std::string& section : table.sections()) {
        text += fmt::format("{}[{}]\n", text.empty() ? "" : "\n", section);
        std::vector<std::vector<std::string>> rows;
        for (const Key& key : table.keys()) {
            if (key.section != section) continue;
            rows.push_back({fmt::format("{}{} = {}", plays_no_part(key, parameters) ? "# " : "", key.name,
                                        value_of(key, parameters).dump()),
                            fmt::format("# {} ({})", help_with_unit(key), allowed_text(key))});
        }
        text += aligned(rows);
    }
    return text;
}

std::vector<std::string> non_default_keys(const Table& table, const Parameters& parameters) {
    const Parameters defaults;
    std::vector<std::string> lines;
    for (const Key& key : table.keys()) {
        const auto value = value_of(key, parameters);
        if (value != value_of(key, defaults)) {
            lines.push_back(fmt::format("{} = {}", key.full_name(), value.dump()));
        }
    }
    return lines;
}

nlohmann::ordered_json resolved_json(const Table& table, const Parameters& parameters) {
    nlohmann::ordered_json json;
    for (const Key& key : table.keys()) json[key.section][key.name] = value_of(key, parameters);
    return json;
}

}  // namespace keel
