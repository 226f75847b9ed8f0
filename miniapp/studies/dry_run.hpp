#pragma once

#include <string>

#include "comm/ranks/communicator.hpp"
#include "miniapp/deck/parameters.hpp"

namespace keel {

struct DryRun {
    std::string text;
    std::string json_lines;  // what every scheme makes of the ghosts
};

// What a run of these parameters on these ranks, or on problem.ranks that are not there, would be: sizes by level, memory
// per rank, messages, and with several nodes or comm.machine the traffic and predicted time of every scheme. Allocates no
// grid. Collective; complete on rank 0.
DryRun dry_run_of(const Parameters& parameters, const Communicator& comm);

}  // namespace keel
