#pragma once

// Keys and their values as text: for --keys, docs/, printed decks and JSON.

#include <functional>
#include <string>
#include <vector>

#include "miniapp/deck/keys.hpp"

namespace keel {

// Keys with their default, what is allowed and their meaning: the common ones, "all", those of a section
// ("bottom") or one ("bottom.s"); nothing where there are none of that name.
std::string keys_text(const Table& table, const std::string& which = "");

// All as a Markdown table.
std::string keys_markdown(const Table& table);

// A complete deck with a comment on each key, which reads back to the same parameters. Keys that are `idle`
// are commented out.
std::string print_deck(const Table& table, const Parameters& parameters,
                       const std::function<bool(const Key&)>& idle);

// A complaint of each key whose value no deck can hold, since it is no UTF-8.
std::vector<std::string> unprintable_keys(const Table& table, const Parameters& parameters);

// "section.key = value" for every key that differs from its default.
std::vector<std::string> non_default_keys(const Table& table, const Parameters& parameters);

// Every key's value, section -> key -> value.
DeckValue resolved_json(const Table& table, const Parameters& parameters);

}  // namespace keel
