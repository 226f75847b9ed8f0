#pragma once

// Which keys play a part in a run: a mode names its keys, and a key what it needs of others. What was given but plays no
// part is refused on the command line, where it was meant for this run, and remarked on in a deck, which may serve several.

#include <span>
#include <string>
#include <vector>

#include "miniapp/deck/keys.hpp"

namespace keel {

// A key by its full name, or with a "section." all keys of it.
struct KeyUse {
    std::string key;
    std::vector<Condition> needs =
        {};                 // of a full name: in place of the key's own; of a section: besides them
    std::string idle = {};  // not empty: the key plays no part; why, and what to do instead
    bool besides = false;   // the needs of a full name are besides the key's own
};

// The keys of a mode. A full name counts before its section, and where it stands twice either will do; what is not listed
// plays no part.
struct KeyUses {
    std::vector<KeyUse> uses;
    std::string otherwise;  // why not, and what to do instead
};

// Why a key plays no part, and what to do instead; empty if it does for at least one of the parameters, which are one
// solver's each where a mode compares solvers.
std::string why_idle(const Table& table, const Key& key, const KeyUses& uses,
                     std::span<const Parameters> solvers);

}  // namespace keel
