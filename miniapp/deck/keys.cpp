#include "miniapp/deck/keys.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace keel {
namespace {

bool holds(const Table& table, const Condition& condition, const Parameters& parameters) {
    const DeckValue value = table.find(condition.key)->value(parameters);
    const std::string word = value.is_string() ? value.get<std::string>() : value.dump();
    if (condition.words.empty()) return std::ranges::find(condition.others, word) == condition.others.end();
    return std::ranges::find(condition.words, word) != condition.words.end();
}

// The first of the conditions that does not hold; null if all do.
const Condition* failing(const Table& table, const std::vector<Condition>& conditions,
                         const Parameters& parameters) {
    const auto found = std::ranges::find_if(
        conditions, [&](const Condition& condition) { return !holds(table, condition, parameters); });
    return found == conditions.end() ? nullptr : &*found;
}

// The uses of the key by its full name or, if there are none, of its section.
std::vector<const KeyUse*> uses_of(const Key& key, const KeyUses& uses) {
    std::vector<const KeyUse*> found;
    for (const std::string& name : {key.full_name(), key.section + "."}) {
        for (const KeyUse& use : uses.uses)
            if (use.key == name) found.push_back(&use);
        if (!found.empty()) break;
    }
    return found;
}

}  // namespace

std::string text_of(const Condition& condition) {
    if (!condition.instead.empty()) return fmt::format("{} = {}", condition.key, condition.instead);
    if (condition.others.empty())
        return fmt::format("{} = {}", condition.key, fmt::join(condition.words, " or "));
    if (condition.others == std::vector<std::string>{""}) return condition.key;
    return fmt::format("{} other than {}", condition.key, fmt::join(condition.others, " and "));
}

Key& Table::add(Key key) {
    const Parameters defaults;
    Parameters assigned;
    const DeckValue value = key.value(defaults);
    if (!value.is_null() && (key.assign(value, assigned) || key.value(assigned) != value))
        throw std::logic_error(key.full_name() + ": the default is not a value that the key may have");
    const auto last = std::ranges::find(keys_.rbegin(), keys_.rend(), key.section, &Key::section);
    const auto place = last == keys_.rend() ? keys_.end() : last.base();
    return *keys_.insert(place, std::move(key));
}

std::vector<std::string> Table::sections() const {
    std::vector<std::string> sections;
    for (const Key& key : keys_)
        if (sections.empty() || sections.back() != key.section) sections.push_back(key.section);
    return sections;
}

std::vector<std::string> Table::names(const std::string& section) const {
    const std::string before = section.empty() ? "" : section + ".";
    std::vector<std::string> names;
    for (const Key& key : keys_) {
        const std::string full = key.full_name();
        if (!full.starts_with(before)) continue;
        const std::string name = full.substr(before.size(), full.find('.', before.size()) - before.size());
        if (names.empty() || names.back() != name) names.push_back(name);
    }
    return names;
}

const Key* Table::find(std::string_view section, std::string_view name) const {
    const auto found = std::ranges::find_if(
        keys_, [&](const Key& key) { return key.section == section && key.name == name; });
    return found == keys_.end() ? nullptr : &*found;
}

const Key* Table::find(std::string_view full_name) const {
    const auto dot = full_name.rfind('.');
    if (dot == std::string_view::npos) return nullptr;
    return find(full_name.substr(0, dot), full_name.substr(dot + 1));
}

std::string why_idle(const Table& table, const Key& key, const KeyUses& uses,
                     std::span<const Parameters> solvers) {
    const std::vector<const KeyUse*> found = uses_of(key, uses);
    // A key of another mode, for which this one may have a reason.
    for (const Condition& condition : key.needs)
        if (condition.key == "run.mode" && !holds(table, condition, solvers.front())) {
            const bool has_reason =
                !found.empty() && found.front()->key == key.full_name() && !found.front()->idle.empty();
            return has_reason ? found.front()->idle : "needs " + text_of(condition);
        }
    if (found.empty()) return uses.otherwise;

    std::string reason;
    std::string of_key;  // the condition of its own that fails where its section plays a part
    for (const KeyUse* use : found) {
        if (!use->idle.empty()) return use->idle;
        const bool exact = use->key == key.full_name();
        std::vector<Condition> conditions = use->needs;
        if (!exact || conditions.empty() || use->besides)
            conditions.insert(conditions.end(), key.needs.begin(), key.needs.end());
        const Condition* missing = nullptr;
        for (const Parameters& parameters : solvers) {
            missing = failing(table, conditions, parameters);
            if (!missing) return "";
            if (!exact && !failing(table, use->needs, parameters)) of_key = "needs " + text_of(*missing);
        }
        if (missing) reason += (reason.empty() ? "needs " : " or ") + text_of(*missing);
    }
    return of_key.empty() ? reason : of_key;
}

}  // namespace keel
