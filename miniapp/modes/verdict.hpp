#pragma once

// Whether a deck makes sense, and what of it is used.

#include <set>
#include <string>
#include <vector>

#include "miniapp/modes/mode.hpp"

namespace keel {

// The complaints of all rules on so many ranks, not those in deck.errors. Without what only follows from a
// key that was refused already. Of a dry run also what exceeds run.dry_run_limit before boxes are laid out.
std::vector<std::string> validate(const Deck& deck, const NamedFiles& files, int ranks,
                                  bool of_dry_run = false);
// Reasons that keep a valid deck from running here and now.
std::vector<std::string> validate_run(const Deck& deck, int ranks);
// Complaints that only this rank can find. Collective.
std::vector<std::string> validate_on(const Deck& deck, const Communicator& comm);

// Whether a key plays a part with this deck.
bool is_idle(const Deck& deck, const Key& key);

// Keys that the file of the deck gives but that play no part, set back to their defaults, so that they cannot
// play one; and remarks that name each and the reason.
std::vector<std::string> drop_idle_keys(Deck& deck);

}  // namespace keel
