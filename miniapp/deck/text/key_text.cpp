#include "miniapp/deck/text/key_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "miniapp/deck/text/text.hpp"

namespace keel {
namespace {

std::string with_unit(const Key& key) {
    return key.unit.empty() ? key.meaning : fmt::format("{} [{}]", key.meaning, key.unit);
}

// "standard: straight from each owner ...", for each word that has a meaning.
std::vector<std::string> word_lines(const Key& key) {
    std::vector<std::string> lines;
    for (const Word& word : key.words)
        if (!word.meaning.empty()) lines.push_back(word.name + ": " + word.meaning);
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

std::string keys_text(const Table& table, const std::string& which) {
    const Parameters defaults;
    std::string text;
    for (const Key& key : table.keys()) {
        if (which.empty() ? key.expert : which != "all" && which != key.section && which != key.full_name())
            continue;
        const std::string head = fmt::format("{} = {}", key.full_name(), json_text(key.value(defaults)));
        text += wrapped(fmt::format("{:<38} {}", head, key.allowed), 39) + "\n";
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
            "| `{}` | `{}` | {} | {}{} |\n", key.full_name(), json_text(key.value(defaults)), key.allowed,
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
            const std::string about = fmt::format("{} ({})", with_unit(key), key.allowed);
            std::string comment = wrapped(about, 2, line_width - 2);
            for (auto at = comment.find("\n  "); at != std::string::npos; at = comment.find("\n  ", at + 1))
                comment.replace(at, 3, "\n# ");
            text += "# " + comment + "\n";
            text +=
                fmt::format("{}{} = {}\n", idle(key) ? "#" : "", key.name, json_text(key.value(parameters)));
        }
    }
    return text;
}

std::vector<std::string> unprintable_keys(const Table& table, const Parameters& parameters) {
    std::vector<std::string> complaints;
    for (const Key& key : table.keys())
        if (const DeckValue value = key.value(parameters);
            value.is_string() && !is_utf8(value.get<std::string>()))
            complaints.push_back(fmt::format(
                "{} = {}: a deck is UTF-8, which this name is not; rename the file, or leave the key "
                "to the command line of runs",
                key.full_name(), json_text(value)));
    return complaints;
}

std::vector<std::string> non_default_keys(const Table& table, const Parameters& parameters) {
    const Parameters defaults;
    std::vector<std::string> lines;
    for (const Key& key : table.keys()) {
        const DeckValue value = key.value(parameters);
        if (value != key.value(defaults))
            lines.push_back(fmt::format("{} = {}", key.full_name(), json_text(value)));
    }
    return lines;
}

DeckValue resolved_json(const Table& table, const Parameters& parameters) {
    DeckValue json;
    for (const Key& key : table.keys()) json[key.section][key.name] = key.value(parameters);
    return json;
}

}  // namespace keel
