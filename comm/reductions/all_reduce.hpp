#pragma once

// Sums over all ranks while the caller does something else, on the wire.

#include <memory>
#include <span>

#include "comm/ranks/communicator.hpp"
#include "comm/ranks/topology.hpp"
#include "comm/reductions/algorithms.hpp"
#include "kernels/timing/ledger.hpp"

namespace keel {

struct Requests;  // comm/ranks/mpi.hpp

class AllReduce {
  public:
    virtual ~AllReduce() = default;
    // Begins to add up every word over all ranks, in place: the words must stay where they are, untouched,
    // until wait() returns. All ranks give equally many. One sum at a time. Collective. Returns the messages
    // of ours that this rank sends for it, until it is complete; what MPI sends for a sum of its own nobody sees.
    virtual Traffic start(std::span<double> words) = 0;
    // Moves on what can be moved without waiting. Returns whether somebody has to do so again, for the sum to be complete.
    virtual bool progress() = 0;
    void wait();
    virtual bool in_flight() const = 0;  // begun and not complete

    // What it waits for next, null where that is done: whoever waits for several sums at once makes them so.
    virtual Requests requests() = 0;
    virtual void take() = 0;  // goes on if all of that is done
};

std::unique_ptr<AllReduce> make_mpi_all_reduce(const Communicator& comm);

// Of an algorithm other than mpi the total has the same bits on all ranks, in every run. `tag`: those in flight at the same
// time on one communicator have different ones; nothing else may use them there. `by_words`: of the automatic one.
std::unique_ptr<AllReduce> make_all_reduce(AllReduceAlgorithm algorithm, const Communicator& comm,
                                           const Topology& topology, int tag,
                                           const AlgorithmByWords& by_words = {},
                                           WordType type = WordType::fp64);

}  // namespace keel
