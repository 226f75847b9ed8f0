#pragma once

// Sums over all ranks while the caller does something else, on the wire.

#include <array>
#include <memory>
#include <span>

#include "comm/ranks/communicator.hpp"
#include "comm/ranks/topology.hpp"
#include "kernels/ledger.hpp"
#include "kernels/names.hpp"

namespace keel {

// mpi: MPI_Iallreduce. recursive_doubling: our own, from point-to-point messages; for where MPI's does not
// overlap.
enum class AllReduceAlgorithm { mpi, recursive_doubling };
constexpr auto names_of(AllReduceAlgorithm) {
    return std::array{
        Named<AllReduceAlgorithm>{AllReduceAlgorithm::mpi, "mpi"},
        Named<AllReduceAlgorithm>{AllReduceAlgorithm::recursive_doubling, "recursive_doubling"}};
}

class AllReduce {
  public:
    virtual ~AllReduce() = default;
    // Begins to add up every word over all ranks, in place: the words must stay where they are, untouched,
    // until wait() returns. All ranks give equally many. One sum at a time. Collective. Returns the messages
    // of ours that this rank sends for it, until it is complete; what MPI sends for a sum of its own nobody sees.
    virtual Traffic start(std::span<double> words) = 0;
    // Moves on what can be moved without waiting.
    virtual void progress() = 0;
    virtual void wait() = 0;
};

std::unique_ptr<AllReduce> make_mpi_all_reduce(const Communicator& comm);

// The total has the same bits on all ranks, in every run. `tag`: those under way at the same time on one
// communicator have different ones; nothing else may use them there.
std::unique_ptr<AllReduce> make_recursive_doubling(const Communicator& comm, const Topology& topology,
                                                   int tag);

}  // namespace keel
