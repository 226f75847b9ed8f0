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
    // until wait() returns. All ranks give equally many. One sum at a time. Collective. Returns the
    // point-to-point messages that this rank sends until the sum is complete; messages inside of MPI are not
    // counted.
    virtual Traffic start(std::span<double> words) = 0;
    // Progresses the sum without waiting. Returns whether it must be called again for the sum to complete.
    virtual bool progress() = 0;
    void wait();
    virtual bool in_flight() const = 0;  // begun and not complete

    // The requests that it waits for next, null if done: a caller that waits for several sums at once
    // completes them.
    virtual Requests requests() = 0;
    virtual void take() = 0;  // goes on if all of that is done
};

// Except with `mpi`, the total has the same bits on all ranks and in every run. Sums in flight at the same
// time on one communicator need different tags, which nothing else may use there. `by_words` is for the
// automatic algorithm.
std::unique_ptr<AllReduce> make_all_reduce(AllReduceAlgorithm algorithm, const Communicator& comm,
                                           const Topology& topology, int tag,
                                           const AlgorithmByWords& by_words = {},
                                           WordType type = WordType::fp64);

}  // namespace keel
