#pragma once

#include <string>

#include "comm/communicator.hpp"
#include "miniapp/parameters.hpp"

namespace keel {

// What a run of these parameters on these ranks would be: sizes by level, memory per rank, messages. Allocates no
// grid. Collective; the text is complete on rank 0.
std::string dry_run_text(const Parameters& parameters, const Communicator& comm);

}  // namespace keel
