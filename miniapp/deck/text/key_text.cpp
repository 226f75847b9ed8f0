#include "miniapp/deck/text/key_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "miniapp/deck/overloaded.hpp"
#include "miniapp/deck/text/text.hpp"

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

std::string with_unit(const Key& key) {
    return key.unit.empty() ? key.meaning : fmt::format("{} [{}]", key.meaning, key.unit);
}

// "standard: straight from each owner ...", a line a word that has a meaning.
std::vector<std::string> word_lines(const Key& key) {
    std::vector<std::string> lines;
    if (const auto* choice = std::get_if<ChoiceKey>(&key.kind))
        for (std::size_t n = 0; n < choice->meanings.size(); ++n)
            lines.push_back(fmt::format("{}: {}", choice->names[n], choice->meanings[n]));
    return lines;
}

// "; needs multigrid.smoother = jacobi"
std::string needs_text(const Key& key) {
    std::string text;
    for (const Condition& condition : key.needs)
        text += (text.empty() ? "; needs " : " and ") + text_of(condition);
    return text;
}

// A bare | would end the cell.
std::string cell(std::string text) {
    for (auto at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2))
        text.insert(at, 1, '\\');
    return text;
}

}  // namespace

std::string allowed_text(const Key& key) {
    return std::visit(
        Overloaded{[](const IntegerKey& kind) {
                       std::string words;
                       for (const NumberWord& word : kind.words) words += word.word + ", ";
                       if (!words.empty()) words += "or ";
                       return words + (is_type_limit(kind.highest)
                                           ? fmt::format(">= {}", kind.lowest)
                                           : fmt::format("from {} to {}", kind.lowest, kind.highest));
                   },
                   [](const RealKey& kind) { return interval_text(kind.allowed); },
                   [](const FlagKey&) { return std::string("true, false"); },
                   [](const ChoiceKey& kind) { return fmt::format("{}", fmt::join(kind.names, ", ")); },
                   [](const TextKey& kind) { return kind.allowed; },
                   [](const ListKey&) { return std::string("array of texts"); },
                   [](const TripleKey& kind) { return fmt::format("each >= {}", kind.lowest); },
                   [](const RealTripleKey& kind) { return "each " + interval_text(kind.allowed); },
                   [](const ShapeKey& kind) {
                       return fmt::format("{}, array of triples >= 0, or a file",
                                          fmt::join(kind.words, ", "));
                   },
                   [](const IntervalKey& kind) {
                       return fmt::format("{}, or [lowest, highest]", fmt::join(kind.words, ", "));
                   },
                   [](const BoundariesKey& kind) {
                       return fmt::format("{}, or low/high of the last two", fmt::join(kind.names, ", "));
                   }},
        key.kind);
}

std::string keys_text(const Table& table, const std::string& which) {
    const Parameters defaults;
    std::string text;
    for (const Key& key : table.keys()) {
        if (which.empty() ? key.expert : which != "all" && which != key.section && which != key.full_name())
            continue;
        const std::string head = fmt::format("{} = {}", key.full_name(), value_of(key, defaults).dump());
        text += wrapped(fmt::format("{:<38} {}", head, allowed_text(key)), 39) + "\n";
        text += wrapped("    " + with_unit(key) + needs_text(key), 4) + "\n";
        for (const std::string& line : word_lines(key)) text += wrapped("    " + line, 8) + "\n";
    }
    if (which.empty())
        text += fmt::format("\n{} more keys are for experts: --keys all, --keys SECTION\n",
                            std::ranges::count(table.keys(), true, &Key::expert));
    return text;
}

std::string keys_markdown(const Table& table) {
    const Parameters defaults;
    std::string text = "| key | default | allowed | meaning |\n| --- | --- | --- | --- |\n";
    for (const Key& key : table.keys())
        text += fmt::format(
            "| `{}` | `{}` | {} | {}{} |\n", key.full_name(), value_of(key, defaults).dump(),
            allowed_text(key),
            cell(fmt::format("{}{}{}{}", with_unit(key), needs_text(key), word_lines(key).empty() ? "" : "; ",
                             fmt::join(word_lines(key), "; "))),
            key.expert ? " (expert)" : "");
    return text;
}

std::string print_deck(const Table& table, const Parameters& parameters,
                       const std::function<bool(const Key&)>& idle) {
    std::string text;
    for (const std::string& section : table.sections()) {
        text += fmt::format("{}[{}]\n", text.empty() ? "" : "\n", section);
        for (const Key& key : table.keys()) {
            if (key.section != section) continue;
            const std::string about = fmt::format("{} ({})", with_unit(key), allowed_text(key));
            std::string comment = wrapped(about, 2, line_width - 2);
            for (auto at = comment.find("\n  "); at != std::string::npos; at = comment.find("\n  ", at + 1))
                comment.replace(at, 3, "\n# ");
            text += "# " + comment + "\n";
            text +=
                fmt::format("{}{} = {}\n", idle(key) ? "#" : "", key.name, value_of(key, parameters).dump());
        }
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
