#pragma once

// Who carries the ghosts of each level in this run: comm.scheme = model and tuned, and the trials of run.mode = exchange.
// All functions are collective.

#include <vector>

#include "comm/communicator.hpp"
#include "kernels/backends/registry.hpp"
#include "miniapp/scheme_table.hpp"

namespace keel {

// All schemes by the plans of this run, of which each rank makes its own part; the rows' numbers are complete on rank 0.
std::vector<SchemeTable> compare_schemes(const Parameters& parameters, const Communicator& comm,
                                         const Layout& finest, const Topology& topology);

// Whether this run times exchanges by all schemes.
bool tries_schemes(const Parameters& parameters);

// Exchanges random fields by every scheme in turns (A B A B): in mode exchange run.warmup rounds and run.repeats that
// count, else one and three. Fills the tables' rounds, and returns how many rows filled some ghost with other bits than
// the standard scheme did.
int time_schemes(const Parameters& parameters, const Communicator& comm, const Backend& backend,
                 const Topology& topology, std::vector<SchemeTable>& tables);

// Fills in what is chosen, the same on all ranks.
void choose_schemes(const Parameters& parameters, const Communicator& comm, std::vector<SchemeTable>& tables);

}  // namespace keel
