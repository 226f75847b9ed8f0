#pragma once

// All-reduces of point-to-point messages, round after round: who passes words to whom, as they are sent and
// as their time is predicted. Pure.

#include <cstddef>
#include <span>
#include <vector>

#include "comm/ranks/topology.hpp"
#include "comm/reductions/algorithms.hpp"
#include "kernels/timing/ledger.hpp"

namespace keel {

// How ranks bring sums together:
//   doubling  recursive doubling (Thakur, Rabenseifner and Gropp 2005): with p ranks, a power of two, log2 p
//             rounds of one message each way; round k exchanges partial sums with rank XOR 2^k. Both partners
//             then add the same two numbers, and addition is commutative: by induction all ranks of a group
//             of 2^k hold the same bits. Ranks beyond the largest power of two pass words to a partner.
//   halving   Rabenseifner's: the words are halved until each rank has the sum of a few, and collected the
//             same way back. Less than twice the words travel, in twice the rounds of recursive doubling.
//   leaders   up a binomial tree to each node's first rank, doubling among these, down again.
//   slices    halving among the ranks of a node, doubling of each rank's slice with the ranks of its place on
//             the other nodes, back within the node. Nodes have equally many ranks, a power of two of them.
enum class Pairing { doubling, halving, leaders, slices };
// The pairing of an algorithm that is not automatic, for `words` words, `together` of which are not parted.
// MPI is taken to do as MPICH does, whose rule is that of rabenseifner: halving above 2 KiB and from as many
// words as ranks on (the largest power of two of them), else doubling. node_aware takes leaders where nodes
// differ, have no power of two of ranks, or words are fewer.
Pairing pairing_of(AllReduceAlgorithm algorithm, const Topology& topology, std::size_t words,
                   std::size_t together = 1);

// A round of all ranks at once: those of a group pair up at a distance.
struct Step {
    enum class Kind {
        fold,   // ranks beyond the largest power of two, the distance, pass their words to a partner
        pair,   // words are exchanged
        halve,  // each half of the words goes to one of both
        tree    // of each pair the first that is left gets the words of the second
    };
    enum class Among { all, node, same_place, first_of_node };
    Kind kind = Kind::pair;
    Among among = Among::all;
    int distance = 1;
    std::size_t words = 0;  // the longest message's
};
// Rounds that bring sums together, others in between, and those that bring the totals back: the same messages
// as `up` in reverse.
struct Steps {
    std::vector<Step> up, between;
};
// The steps for a sum of `words` words, `together` of which are not parted.
Steps steps_of(Pairing pairing, const Topology& topology, std::size_t words, std::size_t together = 1);

// The other end of a rank's messages in a step.
struct Partner {
    int rank = 0;
    bool sends = false;  // to the partner
    bool receives = false;
};
Partner partner_of(const Step& step, const Topology& topology, int rank);

// Whether slices can be made of the words.
bool can_slice(const Topology& topology, std::size_t words);

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
