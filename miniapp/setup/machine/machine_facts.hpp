#pragma once

// Facts of the machine that the run finds out by itself.

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "comm/ranks/communicator.hpp"
#include "comm/ranks/topology.hpp"
#include "kernels/backends/registry.hpp"

namespace keel {

std::size_t resident_bytes();  // this process' now
// The most it has been since reset_peak(). Where the system cannot reset the mark, since the start.
std::size_t peak_resident_bytes();
void reset_peak();

// The limit of this process' memory (ulimit -v or -d) that leaves least.
struct ProcessLimit {
    double left = std::numeric_limits<double>::infinity();  // bytes
    std::string name = "ulimit";                            // "ulimit -v" or "ulimit -d"

    bool given() const { return left < std::numeric_limits<double>::infinity(); }
};
// Address space counts as taken when it is reserved: by MPI, and by the stacks and heaps of threads, which
// this function starts where there is a limit.
ProcessLimit process_limit();
// By rank the socket that holds all processors that the calling thread, which sends the messages, may run on,
// as the system numbers them; -1 - rank if there are several or the system does not say, and of simulated
// ranks. Collective.
std::vector<int> sockets_of_processes(const Communicator& comm);

// Bandwidth of z = x + s y, with the backend's own kernel, all ranks at once: bytes per second over all ranks
// (24 per element, write-allocate not counted), the best of the repetitions until they get no better, or that
// fit in 0.15 s. The arrays of all ranks of a node together have `node_bytes`, 0: four times the last-level
// cache, at most 128 MB and half of what process_limit() leaves; they are freed again. Collective.
double measure_triad(const Communicator& comm, const Topology& topology, const Backend& backend,
                     double node_bytes);

// Seconds that an operation on a few cells takes, the slowest rank's: the least of several runs. Collective.
double measure_launch(const Communicator& comm, const Backend& backend);

std::string host_name();  // as this machine calls itself

// The most ranks on any node.
int most_ranks_per_node(const Topology& topology);
// By rank the number of ranks before it on its device; arguments as below.
std::vector<int> ranks_before_on_device(const std::vector<std::string>& devices, const Topology& detected);
// The most ranks on one device, of `devices` by rank and nodes as detected; 1 where the host computes.
int most_ranks_per_device(const std::vector<std::string>& devices, const Topology& detected);

}  // namespace keel
