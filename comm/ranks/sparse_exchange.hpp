#pragma once

// Messages that only their senders know of.

#include <cstdint>
#include <map>
#include <vector>

#include "comm/ranks/communicator.hpp"

namespace keel {

// By rank: what goes there, or what came from there.
using Letters = std::map<int, std::vector<std::int64_t>>;

// Sends each letter and returns those that came, without anyone counting them: Hoefler, Siebert, Lumsdaine,
// "Scalable communication protocols for dynamic sparse data exchange", PPoPP 2010, algorithm 2 (NBX). A
// barrier that a rank enters when its letters have arrived tells it, once passed, that all have. Collective;
// two in a row want different tags.
Letters exchange_letters(const Communicator& comm, const Letters& outgoing, int tag);

}  // namespace keel
