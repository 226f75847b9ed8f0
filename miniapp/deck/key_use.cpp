#include "miniapp/deck/key_use.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace keel {
namespace {

bool holds(const Table& table, const Condition& condition, const Parameters& parameters) {
    const nlohmann::ordered_json value = value_of(*table.find(condition.key), parameters);
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

}  // namespace

std::string why_idle(const Table& table, const Key& key, const KeyUses& uses,
                     std::span<const Parameters> solvers) {
    // A key of another mode.
    for (const Condition& condition : key.needs)
        if (condition.key == "run.mode" && !holds(table, condition, solvers.front()))
            return "needs " + text_of(condition);
    const std::string name = key.full_name();
    std::vector<const KeyUse*> found;
    for (const KeyUse& use : uses.uses)
        if (use.key == name) found.push_back(&use);
    const bool exact = !found.empty();
    if (!exact)
        for (const KeyUse& use : uses.uses)
            if (use.key == key.section + ".") found.push_back(&use);
    if (found.empty()) return uses.otherwise;

    std::string reason;
    std::string of_key;  // what it lacks itself where its section plays a part
    for (const KeyUse* use : found) {
        if (!use->idle.empty()) return use->idle;
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
