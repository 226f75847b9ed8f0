#pragma once

#include "comm/ranks/communicator.hpp"

namespace keel {

// Whether the MPI makes windows among these ranks, asked now; Open MPI 4 makes none over TCP. Collective.
bool makes_windows(const Communicator& comm);

}  // namespace keel
