#pragma once

// The memory that ranks share, and what a mode has taken of it.

#include <algorithm>
#include <cstddef>
#include <string>

#include "kernels/backends/registry.hpp"
#include "kernels/timing/clock.hpp"
#include "miniapp/setup/machine/dry_run_cost.hpp"
#include "miniapp/setup/machine/machine_facts.hpp"

namespace keel {

// Memory that ranks share.
struct SharedMemory {
    double bytes = 0;
    int sharing = 1;    // ranks
    std::string where;  // "node" or "device"
    double dry_run_limit = 1;
    ProcessLimit process = {};  // each rank's; all together have no more than `bytes`
    double enforced_bytes = 0;  // the same without variables of a batch system, which limit nothing
    double machine_bytes = 0;   // a node's own memory

    SharedMemory enforced() const {
        SharedMemory memory = *this;
        memory.bytes = enforced_bytes;
        return memory;
    }

    bool is_limited_by_process() const { return process.left * sharing <= bytes; }
    // The limits of a dry run on each of the ranks.
    DryRunLimit limit() const { return {dry_run_limit, bytes / 2 / sharing}; }
};
// The memory that ranks of this node share.
SharedMemory memory_of_nodes(const Topology& topology);
// The least of all ranks'. Collective.
SharedMemory least_of(SharedMemory memory, const Communicator& comm);
// The memory in which the backend keeps its data, on the node or device with least. Collective.
SharedMemory memory_of(const Backend& backend, const Topology& detected, const Communicator& comm);

// Bytes of memory taken since it was made, at their peak on the host. Unknown, 0, of simulated ranks, which
// share a process.
class MemoryGrowth {
  public:
    explicit MemoryGrowth(const Backend& backend)
        : backend_(backend), free_on_device_(static_cast<double>(backend.free_device_bytes())) {
        reset_peak();
        resident_ = resident_bytes();
    }
    double on_host() const {
        if (simulated()) return 0;
        const std::size_t peak = peak_resident_bytes();
        return static_cast<double>(peak - std::min(peak, resident_));
    }
    // All ranks' together: no more is known of a device.
    double on_device() const { return free_on_device_ - static_cast<double>(backend_.free_device_bytes()); }

  private:
    const Backend& backend_;
    double free_on_device_;
    std::size_t resident_ = 0;
};

}  // namespace keel
