#pragma once

// All-reduces of point-to-point messages: the words that a rank sends to each partner, round after round.
// Pure.

#include <cstddef>
#include <span>
#include <vector>

#include "comm/ranks/topology.hpp"
#include "comm/reductions/algorithms.hpp"
#include "kernels/timing/ledger.hpp"

namespace keel {

struct Words {
    std::size_t first = 0;
    std::size_t count = 0;
};

// At most a message each way between a rank and another; without words there is none.
struct Round {
    int peer = 0;
    Words sent;
    Words received;
    bool adds = true;  // words that arrive are added to the rank's; else they take their place
};

// The rounds of one rank for a sum of `words` words, by an algorithm other than mpi and automatic.
std::vector<Round> rounds_of(AllReduceAlgorithm algorithm, const Topology& topology, int rank,
                             std::size_t words, WordType type = WordType::fp64);

// The messages that a rank sends in the rounds.
Traffic traffic_of(std::span<const Round> rounds, const Topology& topology, int rank);

}  // namespace keel
