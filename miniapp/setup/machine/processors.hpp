#pragma once

// The processors that ranks may use, and where more threads than processors share them.

#include <sched.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "comm/ranks/communicator.hpp"
#include "comm/ranks/topology.hpp"

namespace keel {

int processors();  // this machine's

using Processors = std::vector<std::int64_t>;  // their numbers, ascending

std::string text_of(const Processors& all);  // e.g. "0-1,4"; "unknown" if there are none

// The processors in the affinity mask of the calling thread; none if the system does not say.
using GetAffinity = int (*)(pid_t, std::size_t, cpu_set_t*);
Processors allowed_processors(GetAffinity get_affinity = sched_getaffinity);

// A control group whose processes together get no more than the time of `processors`, e.g. 0.5.
struct Quota {
    std::int64_t id = 0;  // the same on all ranks of a node
    double processors = 0;
    std::string group;  // its folder
};

// The processors of its node that a rank may use.
struct UsableProcessors {
    std::vector<Processors> of_threads;  // by thread
    std::vector<Quota> quotas;           // of this process's control groups and those around them

    Processors all() const;  // all threads' together
};
// Asks each of the `threads` that the backend has; `root` as in control_groups().
UsableProcessors usable_processors(int threads, const std::filesystem::path& root = "/");

// Threads that share processors of a node and may run on no others, or that share a quota.
struct Crowd {
    int ranks = 0;  // whose threads these are
    int threads = 0;
    double processors = 0;
    bool quota = false;
    std::string where;  // the processors, e.g. "0-1", or the quota's control group

    double crowding() const { return processors > 0 ? threads / processors : 0; }
};
// The most crowded of what one of the ranks on a node may use: the processors of a thread, of the rank or of
// the node, or a quota.
Crowd most_crowded(const UsableProcessors& rank, const std::vector<UsableProcessors>& of_node);
// The processors of all ranks on this rank's node. Collective.
std::vector<UsableProcessors> usable_on_node(const Communicator& comm, const Topology& detected,
                                             const UsableProcessors& mine);

// Threads for each rank, the same for all: the most that give no processor and no quota that ranks share
// more than one thread, at least one. `mine` as OpenMP would have it. Collective.
int threads_that_fit(const Communicator& comm, const Topology& detected, const UsableProcessors& mine);

}  // namespace keel
