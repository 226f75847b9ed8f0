#pragma once

// Reading what the user wrote: a TOML file, then `section.key=value` words. Nothing here throws at the user: every
// complaint says where, what came, what is allowed and the nearest valid name, and all are returned together.

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "miniapp/deck/keys.hpp"

namespace keel {

// A file as it was read, or why it could not be.
struct FileText {
    std::string name;
    std::string text;
    std::string error;
};
inline constexpr std::size_t most_deck_bytes = 1 << 20;
// At most so many bytes; a longer file, such as /dev/zero, is an error.
FileText read_text(const std::filesystem::path& file, std::size_t most_bytes = most_deck_bytes);

// Why a text is kept from the TOML library, not every release of which survives control characters, deep keys and nameless sections.
struct Unparsable {
    long line = 1;
    std::string reason;
};
std::optional<Unparsable> why_unparsable(const std::string& text);

struct Deck {
    const Table* table = nullptr;  // by which it was read; outlives the deck
    std::string file;              // it was read from; empty: none
    Parameters parameters;
    std::map<std::string, std::string> origin;  // of every key: "deck.toml:14", "command line" or "default"
    std::vector<std::string> errors;            // empty: all that was given has been taken
    std::set<std::string> refused;              // keys whose value was given but is among the errors

    bool is_set(const std::string& key) const;
};

// Takes the file, if there is one, then the overrides, which win over the file. A value of an override is TOML, or a text
// without quotes; `default` takes back what the file says. Purely local: no MPI.
Deck read_deck(const Table& table, const std::optional<FileText>& file,
               std::span<const std::string> overrides);

}  // namespace keel
