#include "miniapp/files/record_name.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <vector>

#include "miniapp/deck/text/spelling.hpp"

namespace keel {
namespace {

constexpr std::array words_of_runs{"date", "id", "nodes", "ranks", "threads"};

}  // namespace

std::string filled_in(const std::string& name, const WordMeaning& meaning) {
    std::string filled;
    std::size_t at = 0;
    while (at < name.size()) {
        const std::size_t end = name[at] == '{' ? name.find_first_of("{}", at + 1) : name.npos;
        const bool closed = end != name.npos && name[end] == '}';
        const auto value = closed ? meaning(name.substr(at + 1, end - at - 1)) : std::nullopt;
        filled += value ? *value : name.substr(at, 1);
        at = value ? end + 1 : at + 1;
    }
    return filled;
}

std::string wrong_word(const std::string& name, const Table& table) {
    std::string wrong;
    filled_in(name, [&](const std::string& word) -> std::optional<std::string> {
        if (!wrong.empty() || table.find(word) ||
            std::ranges::find(words_of_runs, word) != words_of_runs.end())
            return "";
        std::vector<std::string> known(words_of_runs.begin(), words_of_runs.end());
        for (const Key& key : table.keys()) known.push_back(key.full_name());
        const auto near = nearest(word, known);
        wrong = fmt::format("{{{}}} stands for nothing; choose {{{}}} or a key, such as {{bottom.solver}}{}",
                            word, fmt::join(words_of_runs, "}, {"),
                            near ? fmt::format(" (did you mean {{{}}}?)", *near) : "");
        return "";
    });
    return wrong;
}

std::optional<std::string> key_in_name(const std::string& word, const Table& table,
                                       const Parameters& parameters) {
    const Key* const key = table.find(word);
    if (!key) return {};
    const DeckValue value = key->value(parameters);
    return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace keel
