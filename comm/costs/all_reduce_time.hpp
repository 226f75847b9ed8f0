#pragma once

// The time that an all-reduce takes on a machine: its rounds one after the other, each from its real messages,
// as a phase of a plan. Pure.

#include <array>
#include <cstddef>
#include <vector>

#include "comm/costs/machine.hpp"
#include "comm/ranks/locality.hpp"
#include "comm/reductions/algorithms.hpp"
#include "kernels/names.hpp"

namespace keel {

enum class AllReduceModel { mpich, recursive_doubling, rabenseifner, node_leader, node_slices, automatic };
constexpr auto names_of(AllReduceModel) {
    using Name = Named<AllReduceModel>;
    return std::array{Name{AllReduceModel::mpich, "mpich"},
                      Name{AllReduceModel::recursive_doubling, "recursive_doubling"},
                      Name{AllReduceModel::rabenseifner, "rabenseifner"},
                      Name{AllReduceModel::node_leader, "node_leader"},
                      Name{AllReduceModel::node_slices, "node_slices"},
                      Name{AllReduceModel::automatic, "auto"}};
}

// Seconds until the last rank has the sums of so many doubles.
//   recursive_doubling: as comm/reductions/rounds.cpp.
//   rabenseifner: halves of what is left to and fro, far partners first, until each rank has the total of a
//     piece; back the same way (Thakur, Rabenseifner and Gropp 2005). Ranks beyond a power of two as above.
//   mpich: the one of these two that MPICH takes, halving above 2 KiB and from as many words as ranks on (the
//     largest power of two of them).
//   node_leader: up a binomial tree to each node's first rank, doubling among these, down again.
//   node_slices: halving within the node, doubling of each rank's slice with its like on other nodes, back
//     within the node. Where nodes differ, have no power of two of ranks, or words are fewer: node_leader.
//   auto: the fastest of mpich, recursive_doubling and node_slices.
// Of more than `most_ranks`, in powers of two on nodes and of nodes that are filled one after the other, so many are gone
// through and the rounds that the others add are counted, but for rabenseifner, whose rounds differ.
// Throws MissingParameter.
double all_reduce_time(const Machine& machine, const RankPlaces& ranks, std::size_t words,
                       AllReduceModel model, std::size_t most_ranks = 4096);

// Of one of its rounds: until all messages are where they belong, and how long one of them keeps the process at each of its ends
// busy; 0 where nobody has measured that.
struct RoundTime {
    double seconds = 0;
    double busy = 0;
};
// All of them in their order, which add up to that time; those that are counted come last. Throws MissingParameter.
std::vector<RoundTime> all_reduce_rounds(const Machine& machine, const RankPlaces& ranks, std::size_t words,
                                         AllReduceModel model, std::size_t most_ranks = 4096);

// The fastest of the three; the first if several are equal. Throws MissingParameter.
AllReduceModel fastest_all_reduce(const Machine& machine, const RankPlaces& ranks, std::size_t words);

// How messages of ours sum up so many words in the model's way. Throws MissingParameter.
AllReduceAlgorithm algorithm_of(AllReduceModel model, const Machine& machine, const RankPlaces& ranks,
                                std::size_t words);

}  // namespace keel
