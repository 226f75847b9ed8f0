#include "miniapp/files/record_name.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
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

std::string reason_not_writable(const std::filesystem::path& file) {
    std::error_code ignored;
    if (std::filesystem::is_directory(file, ignored)) return "is a folder; give a file name";
    const auto folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
    if (!std::filesystem::is_directory(folder, ignored))
        return fmt::format("there is no folder {}; make it, or choose another", folder.string());
    const bool exists = std::filesystem::exists(file, ignored);
    if (::access(exists ? file.c_str() : folder.c_str(), exists ? W_OK : W_OK | X_OK) == 0) return "";
    return fmt::format("cannot be written: {}; choose another", std::generic_category().message(errno));
}

std::string reason_not_new(const std::filesystem::path& file, const std::filesystem::path& json) {
    std::error_code ignored;
    if (!json.empty() && is_same_file(file, json)) return "is output.json too; choose another";
    if (std::filesystem::is_regular_file(file, ignored))
        return "is there already; choose another, or remove it";
    return reason_not_writable(file);
}

bool is_same_file(const std::filesystem::path& a, const std::filesystem::path& b) {
    std::error_code ignored;
    const auto whole = [&](const std::filesystem::path& path) {
        return std::filesystem::weakly_canonical(std::filesystem::absolute(path, ignored), ignored);
    };
    return std::filesystem::equivalent(a, b, ignored) || whole(a) == whole(b);
}

}  // namespace keel
