#pragma once

// Who carries the exchanges of each level in this run: comm.scheme = auto and tuned, and trials of all
// schemes. All functions are collective.

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "comm/carry/exchange.hpp"
#include "comm/ranks/communicator.hpp"
#include "kernels/backends/registry.hpp"
#include "miniapp/report/findings.hpp"
#include "miniapp/schemes/scheme_table.hpp"

namespace keel {

// The schemes by the parts of their plans that plan_of(scheme) makes on each rank; complete on rank 0.
// `ranks`: those that the set-up's topology is of, where these are not all; the others' parts are not looked
// at.
using PlanOf = std::function<Plan(const SchemeOptions& scheme)>;
std::vector<SchemeRow> compare_parts(const Communicator& comm, const Setup& setup,
                                     std::span<const SchemeOptions> schemes, const PlanOf& plan_of,
                                     std::span<const int> ranks = {});

// All schemes by the plans of this run, of which each rank makes its own part; the rows' numbers are complete
// on rank 0.
std::vector<SchemeTable> compare_schemes(const GridSetup& grids, const Layout& finest,
                                         const Resolved& resolved, const Communicator& comm);

// Whether this run times exchanges by all schemes, or by transports.
bool tries_schemes(const Communication& how);
// Replaces the rows that may be chosen by one for each transport that is tried, and removes the others.
void try_transports(const Communication& how, std::vector<SchemeTable>& tables);

// Every scheme of a table, ready to carry fields of this rank.
class Trial {
  public:
    virtual ~Trial() = default;
    // Exchanges by a row's scheme, `times` times; returns when all is done.
    virtual void run(std::size_t row, int times) = 0;
    // All that one exchange of values without structure fills.
    virtual std::vector<double> filled(std::size_t row) = 0;
};
// Null on ranks that take no part in the exchange.
using MakeTrial = std::function<std::unique_ptr<Trial>(const SchemeTable& table)>;

// A trial of a grid's ghosts or boxes among the ranks of the table's use; null on others. The arguments must
// outlive it.
std::unique_ptr<Trial> make_grid_trial(const GridSetup& grids, const Topology& all_ranks,
                                       const Communicator& all, const Backend& backend,
                                       const SchemeTable& table);

// A trial of ghosts by the exchange of a row, of fields that hold value(seed, cell) inside.
using ExchangeOfRow = std::function<std::unique_ptr<Exchange>(std::size_t row, Operations& operations)>;
using ValueOfCell = std::function<double(std::uint64_t seed, const Index& cell)>;
std::unique_ptr<Trial> make_ghost_trial(const Backend& backend, const SchemeTable& table, int depth,
                                        const ExchangeOfRow& exchange, const ValueOfCell& value);

// Exchanges fields by every scheme in turns (A B A B), `warmup` rounds and then `repeats` that count. Fills
// the tables' rounds.
struct Rounds {
    int warmup = 1;
    int repeats = 3;
};
struct Tried {
    double seconds = 0;                              // all together
    Interruption interruption = Interruption::none;  // before all was tried
    Tally rounds = {"rounds"};                       // of all tables
    Check check;  // no row filled some ghost with other bits than the standard scheme did
};
// `asked` returns between rounds, on all ranks alike, whether to end; then tables without rounds are dropped.
Tried time_schemes(const Communicator& comm, const Rounds& rounds, const MakeTrial& make_trial,
                   std::vector<SchemeTable>& tables, const std::function<Interruption()>& asked);

// Fills in what is chosen, the same on all ranks: the fastest row that was tried, else the deck's or the
// model's.
void choose_schemes(const Communication& how, const Communicator& comm, std::vector<SchemeTable>& tables);

}  // namespace keel
