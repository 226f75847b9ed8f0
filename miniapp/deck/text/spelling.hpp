#pragma once

// "Did you mean ...?"

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace keel {

// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other, case aside
// (optimal string alignment). A word that the other begins with is one edit away: "bicg" is meant to be
// found.
std::size_t edits(const std::string& one, const std::string& other);

// Whether `edits` edits of `word` may be a slip: a third of its letters.
bool is_near(std::size_t edits, const std::string& word);

// The name of fewest edits from `word`, if that is near; else nothing.
std::optional<std::string> nearest(const std::string& word, std::span<const std::string> names);

// " (did you mean "dirichlet"?)", or nothing.
std::string did_you_mean(const std::string& word, std::span<const std::string> names);

}  // namespace keel
