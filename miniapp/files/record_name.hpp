#pragma once

// The files that a run writes: whether they can be, and names of output.json with words in braces, so that
// each of many runs of one deck has a file of its own: "{ranks}x{threads}_{bottom.solver}.json".

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "miniapp/deck/keys.hpp"

namespace keel {

// Returns the text that stands for a word, or nothing if it has no meaning.
using WordMeaning = std::function<std::optional<std::string>(const std::string& word)>;

// The name with each word in braces replaced; where one has no meaning it stays, braces and all. A brace
// without its other is a character like all.
std::string filled_in(const std::string& name, const WordMeaning& meaning);

// The first word in braces that is neither a key nor one of a run's own (date, id, nodes, ranks, threads):
// what to do about it; empty if there is none.
std::string wrong_word(const std::string& name, const Table& table);

// The value that a key in braces stands for, texts without quotes.
std::optional<std::string> key_in_name(const std::string& word, const Table& table,
                                       const Parameters& parameters);

// Why `file` cannot be written; empty if it can. Opens nothing, so nothing is truncated.
std::string reason_not_writable(const std::filesystem::path& file);
// Returns why `file` cannot be created, or an empty string. It must not exist and must differ from
// output.json.
std::string reason_not_new(const std::filesystem::path& file, const std::filesystem::path& json);

// Whether both paths are one file, whether it is there already or not.
bool is_same_file(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace keel
