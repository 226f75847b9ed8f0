#pragma once

// Reads what the user wrote: a TOML file, then `section.key=value` words. Nothing here throws at the user:
// every complaint names the place, the value, what is allowed and the nearest valid name, and all are
// returned together.

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "miniapp/deck/keys.hpp"
#include "miniapp/deck/text/file_text.hpp"
#include "miniapp/deck/text/toml.hpp"

namespace keel {

struct Deck {
    const Table* table = nullptr;  // outlives the deck
    std::string file;              // path; empty: none
    Parameters parameters;
    // By key: "deck.toml:14", "command line" or "default"; also by section of the file.
    std::map<std::string, std::string> origin;
    std::vector<std::string> errors;  // empty: all that was given has been taken
    std::set<std::string> refused;    // keys whose value was given but is among the errors

    bool is_set(const std::string& key) const;
    void take_back(const Key& key);  // gives it its default
};

// Takes the file, if there is one, then the overrides, which win over the file. A value of an override is
// TOML, or a text without quotes; `default` takes back the value in the file. Purely local: no MPI.
Deck read_deck(const Table& table, const std::optional<FileText>& file,
               std::span<const std::string> overrides);
// Takes the contents of a file of that name alone.
Deck read_deck(const Table& table, const std::string& file, const toml::table& content);

}  // namespace keel
