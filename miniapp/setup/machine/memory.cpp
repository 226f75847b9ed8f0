#include "miniapp/setup/machine/memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "miniapp/setup/machine/control_groups.hpp"

namespace keel {
namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

// Bytes that a job of Slurm may take on a node: its own limit, or that of a processor times those it has
// there. 0 asks for all the memory.
double limit_of_slurm() {
    const auto megabytes = [](const char* name) {
        const char* const text = std::getenv(name);
        return text ? std::strtod(text, nullptr) : 0.0;
    };
    constexpr double mebibyte = 1024 * 1024;
    if (const double of_node = megabytes("SLURM_MEM_PER_NODE"); of_node > 0) return of_node * mebibyte;
    const double of_processors = megabytes("SLURM_MEM_PER_CPU") * megabytes("SLURM_CPUS_ON_NODE");
    return of_processors > 0 ? of_processors * mebibyte : unlimited;
}

double memory_of_machine() {
    return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

}  // namespace

SharedMemory memory_of_nodes(const Topology& topology) {
    // All simulated ranks share one machine, and one process.
    SharedMemory memory{0, simulated() ? topology.ranks() : most_ranks_per_node(topology), "node"};
    memory.process = process_limit();
    if (simulated()) memory.process.left /= memory.sharing;
    memory.machine_bytes = memory_of_machine();
    memory.enforced_bytes =
        std::min({memory.machine_bytes, memory_granted(), memory.process.left * memory.sharing});
    memory.bytes = std::min(memory.enforced_bytes, limit_of_slurm());
    return memory;
}

SharedMemory least_of(SharedMemory memory, const Communicator& comm) {
    for (double* least : {&memory.bytes, &memory.enforced_bytes, &memory.machine_bytes})
        *least = comm.min(*least);
    memory.process.left = comm.min(memory.process.left);
    return memory;
}

SharedMemory memory_of(const Backend& backend, const Topology& detected, const Communicator& comm) {
    const auto devices = comm.gather(backend.device());
    SharedMemory memory = memory_of_nodes(detected);
    if (!backend.device().empty()) {  // rank 0 knows who shares one
        memory.bytes = memory.enforced_bytes = static_cast<double>(backend.free_device_bytes());
        memory.sharing = static_cast<int>(comm.max(most_ranks_per_device(devices, detected)));
        memory.where = "device";
        memory.process = {};
    }
    return least_of(memory, comm);
}

}  // namespace keel
