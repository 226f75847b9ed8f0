#pragma once

// Whether all ranks are one run. mpiexec starts anything: `mpiexec -n 1 keel a.toml : -n 1 keel b.toml` would
// wait for ever, or mix two problems.

#include <span>
#include <string>
#include <vector>

#include "comm/ranks/communicator.hpp"

namespace keel {

// How this rank differs from rank 0: by its build or its words. Before any other collective call; collective.
std::vector<std::string> unlike_rank_0(std::span<char* const> words, const Communicator& comm);
// The same of its number of threads.
std::vector<std::string> unlike_rank_0(int threads, const Communicator& comm);

}  // namespace keel
