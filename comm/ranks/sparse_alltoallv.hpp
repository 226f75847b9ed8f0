#pragma once

// Messages that only their senders know of.

#include <cstdint>
#include <map>
#include <vector>

#include "comm/ranks/communicator.hpp"

namespace keel {

// By rank: the words that go there, or that came from there.
using WordsByRank = std::map<int, std::vector<std::int64_t>>;

// Sends the words and returns those that came; a rank does not know beforehand how many come, or from which
// ranks: Hoefler, Siebert, Lumsdaine, "Scalable communication protocols for dynamic sparse data exchange",
// PPoPP 2010, algorithm 2 (NBX). A rank enters a barrier when its words have arrived; past the barrier all
// words have. Collective; two calls in a row want different tags.
WordsByRank sparse_alltoallv(const Communicator& comm, const WordsByRank& outgoing, int tag);

}  // namespace keel
