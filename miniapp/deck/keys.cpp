#include "miniapp/deck/keys.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "miniapp/deck/overloaded.hpp"

namespace keel {

bool Interval::contains(double x) const {
    return std::isfinite(x) && (lowest_open ? x > lowest : x >= lowest) &&
           (highest_open ? x < highest : x <= highest);
}

std::string text_of(const Condition& condition) {
    if (condition.others.empty())
        return fmt::format("{} = {}", condition.key, fmt::join(condition.words, " or "));
    if (condition.others == std::vector<std::string>{""}) return condition.key;
    return fmt::format("{} other than {}", condition.key, fmt::join(condition.others, " and "));
}

nlohmann::ordered_json value_of(const Key& key, const Parameters& parameters) {
    return std::visit(
        Overloaded{[&](const BoundariesKey& kind) -> nlohmann::ordered_json {
                       const auto words = kind.value.get(parameters);
                       if (words[0] == words[1] && words[1] == words[2]) return words[0];
                       return words;
                   },
                   [&](const ShapeKey& kind) -> nlohmann::ordered_json {
                       const auto [word, boxes] = kind.value.get(parameters);
                       if (!word.empty()) return word;
                       if (!boxes.file.empty()) return boxes.file;
                       return boxes.positions;
                   },
                   [&](const IntervalKey& kind) -> nlohmann::ordered_json {
                       const WordOrInterval value = kind.value.get(parameters);
                       if (value.word.empty()) return value.ends;
                       return value.word;
                   },
                   [&](const IntegerKey& kind) -> nlohmann::ordered_json {
                       const std::int64_t value = kind.value.get(parameters);
                       const auto word = std::ranges::find(kind.words, value, &NumberWord::number);
                       if (word != kind.words.end()) return word->word;
                       return value;
                   },
                   [&](const auto& kind) -> nlohmann::ordered_json { return kind.value.get(parameters); }},
        key.kind);
}

Key& Table::add(Key key) {
    const auto* choice = std::get_if<ChoiceKey>(&key.kind);
    if (choice && std::ranges::count(choice->names, choice->value.get(Parameters{})) != 1)
        throw std::logic_error(key.full_name() + ": the default is not one of the choices");
    const auto last = std::ranges::find(keys_.rbegin(), keys_.rend(), key.section, &Key::section);
    const auto place = last == keys_.rend() ? keys_.end() : last.base();
    return *keys_.insert(place, std::move(key));
}

std::vector<std::string> Table::sections() const {
    std::vector<std::string> sections;
    for (const Key& key : keys_) {
        if (sections.empty() || sections.back() != key.section) sections.push_back(key.section);
    }
    return sections;
}

const Key* Table::find(std::string_view section, std::string_view name) const {
    const auto found = std::ranges::find_if(
        keys_, [&](const Key& key) { return key.section == section && key.name == name; });
    return found == keys_.end() ? nullptr : &*found;
}

const Key* Table::find(std::string_view full_name) const {
    const auto dot = full_name.find('.');
    if (dot == std::string_view::npos) return nullptr;
    return find(full_name.substr(0, dot), full_name.substr(dot + 1));
}

}  // namespace keel
