#pragma once

// Who carries the ghosts of each level in this run: comm.scheme = model and tuned, and the trials of run.mode = exchange.
// All functions are collective.

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "comm/carry/exchange.hpp"
#include "comm/ranks/communicator.hpp"
#include "kernels/backends/registry.hpp"
#include "miniapp/schemes/scheme_table.hpp"
#include "miniapp/studies/grids/checks.hpp"

namespace keel {

// The schemes by the parts of their plans that plan_of(scheme) makes on each rank; complete on rank 0.
using PlanOf = std::function<Plan(const SchemeOptions& scheme)>;
std::vector<SchemeRow> compare_parts(const Parameters& parameters, const Communicator& comm,
                                     const Topology& topology, std::span<const SchemeOptions> schemes,
                                     const PlanOf& plan_of);

// All schemes by the plans of this run, of which each rank makes its own part; the rows' numbers are complete on rank 0.
std::vector<SchemeTable> compare_schemes(const Parameters& parameters, const Communicator& comm,
                                         const Layout& finest, const Topology& topology);

// Whether this run times exchanges by all schemes.
bool tries_schemes(const Parameters& parameters);

// One scheme at work on fields of this rank. Collective both.
struct Attempt {
    std::function<void(int times)> run;           // returns when all is done
    std::function<std::vector<double>()> filled;  // all that an exchange of values without structure fills
};
// An attempt for each row of a table, whose numbers keep their messages apart. What it is made of must outlive it.
using Trial = std::function<std::vector<Attempt>(const SchemeTable& table)>;
Trial trial_of_grids(const Parameters& parameters, const Communicator& comm, const Backend& backend,
                     const Topology& topology);

// Attempts at ghosts: by the exchange of a row, of fields that hold value(seed, cell) inside.
using ExchangeOfRow = std::function<std::unique_ptr<Exchange>(std::size_t row, Operations& operations)>;
using ValueOfCell = std::function<double(std::uint64_t seed, const Index& cell)>;
std::vector<Attempt> attempts_at_ghosts(const Backend& backend, const SchemeTable& table,
                                        const ExchangeOfRow& exchange, const ValueOfCell& value);

// Exchanges fields by every scheme in turns (A B A B): in mode exchange run.warmup rounds and run.repeats that count, else
// one and three. Fills the tables' rounds.
struct Tried {
    double seconds = 0;  // that it took
    Check check;         // no row filled some ghost with other bits than the standard scheme did
};
Tried time_schemes(const Parameters& parameters, const Communicator& comm, const Trial& trial,
                   std::vector<SchemeTable>& tables);

// Fills in what is chosen, the same on all ranks.
void choose_schemes(const Parameters& parameters, const Communicator& comm, std::vector<SchemeTable>& tables);

}  // namespace keel
