#pragma once

// The time that collective operations take on a machine: their rounds one after the other, each from its real
// messages, as a phase of a plan. All throw MissingParameter. Pure.

#include <cstddef>
#include <span>
#include <vector>

#include "comm/costs/machine.hpp"
#include "comm/ranks/locality.hpp"
#include "comm/ranks/topology.hpp"
#include "comm/reductions/algorithms.hpp"

namespace keel {

enum class Pairing;  // comm/reductions/rounds.hpp

// A round of an all-reduce: the seconds until all messages have arrived, and how long a message keeps the
// processes at its ends busy; 0 if not measured.
struct RoundTime {
    double seconds = 0;
    double busy = 0;
};
double sum_of(std::span<const RoundTime> rounds);  // seconds, one after the other
// All rounds of a sum of `words` doubles in their order, those that are counted last: if more than
// `most_ranks` ranks fill equal nodes in turn, nodes and ranks in powers of two, the rounds of `most_ranks`
// are computed and those that further nodes add are counted; not for halving.
std::vector<RoundTime> all_reduce_rounds(const Machine& machine, const Topology& topology, std::size_t words,
                                         Pairing pairing, std::size_t most_ranks = 4096);
// The same by an algorithm; the automatic one is the fastest.
std::vector<RoundTime> all_reduce_rounds(const Machine& machine, const Topology& topology, std::size_t words,
                                         AllReduceAlgorithm algorithm);
// Seconds until the last rank has the sums.
double all_reduce_time(const Machine& machine, const Topology& topology, std::size_t words,
                       AllReduceAlgorithm algorithm);

// The fastest of the algorithms of point-to-point messages; the first if several are equal.
AllReduceAlgorithm fastest_all_reduce(const Machine& machine, const Topology& topology, std::size_t words);

// Seconds until each rank has `words` doubles of every other: Bruck's ceil(log2(ranks)) rounds, in which
// a rank forwards twice the words of the round before (Bruck and others, "Efficient algorithms for all-to-all
// communications in multiport message-passing systems", TPDS 1997).
double all_gather_time(const Machine& machine, const RankPlaces& ranks, std::size_t words);

// Seconds until the first rank has `words` doubles of every other, up a binomial tree; a scatter takes as
// long.
double gather_time(const Machine& machine, const RankPlaces& ranks, std::size_t words);

}  // namespace keel
