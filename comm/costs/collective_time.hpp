#pragma once

// The time that collective operations take on a machine: their rounds one after the other, each from its real
// messages, as a phase of a plan. All throw MissingParameter. Pure.

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
    return std::array{"mpich", "recursive_doubling", "rabenseifner", "node_leader", "node_slices", "auto"};
}

// Seconds until the last rank has the sums of `words` doubles.
//   recursive_doubling, rabenseifner: doubling and halving (Pairing in comm/reductions/rounds.hpp).
//   mpich: the one of these two that MPICH takes, halving above 2 KiB and from as many words as ranks on (the
//     largest power of two of them).
//   node_leader: leaders.
//   node_slices: slices. Where nodes differ, have no power of two of ranks, or words are fewer: node_leader.
//   auto: the fastest of mpich, recursive_doubling and node_slices.
// If more than `most_ranks` ranks fill equal nodes in turn, nodes and ranks in powers of two, the rounds of
// `most_ranks` are computed and those that further nodes add are counted; not for rabenseifner.
double all_reduce_time(const Machine& machine, const RankPlaces& ranks, std::size_t words,
                       AllReduceModel model, std::size_t most_ranks = 4096);

// A round of an all-reduce: the seconds until all messages have arrived, and how long a message keeps the
// processes at its ends busy; 0 if not measured.
struct RoundTime {
    double seconds = 0;
    double busy = 0;
};
// All rounds in their order, which add up to all_reduce_time(); those that are counted come last.
std::vector<RoundTime> all_reduce_rounds(const Machine& machine, const RankPlaces& ranks, std::size_t words,
                                         AllReduceModel model, std::size_t most_ranks = 4096);

// The fastest of the three that `auto` chooses from; the first if several are equal.
AllReduceModel fastest_all_reduce(const Machine& machine, const RankPlaces& ranks, std::size_t words);

// The algorithm by which point-to-point messages add up `words` doubles as the model does.
AllReduceAlgorithm algorithm_of(AllReduceModel model, const Machine& machine, const RankPlaces& ranks,
                                std::size_t words);

// Seconds until each rank has `words` doubles of every other: Bruck's rounds, as many as doublings, in which
// a rank passes on twice what it passed on before (Bruck and others, "Efficient algorithms for all-to-all
// communications in multiport message-passing systems", TPDS 1997).
double all_gather_time(const Machine& machine, const RankPlaces& ranks, std::size_t words);

// Seconds until the first rank has `words` doubles of every other, up a binomial tree; a scatter takes as
// long.
double gather_time(const Machine& machine, const RankPlaces& ranks, std::size_t words);

}  // namespace keel
