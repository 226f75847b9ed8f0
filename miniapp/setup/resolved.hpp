#pragma once

// The meaning of a deck on the ranks at hand, worked out once: whatever runs takes its values from this, and
// never sees the deck.

#include <optional>
#include <string>
#include <vector>

#include "comm/carry/exchange.hpp"
#include "comm/costs/collective_time.hpp"
#include "comm/costs/comparison.hpp"
#include "comm/plans/schemes.hpp"
#include "comm/ranks/topology.hpp"
#include "comm/reductions/reduction.hpp"
#include "kernels/backends/registry.hpp"
#include "miniapp/deck/deck.hpp"
#include "miniapp/files/named_files.hpp"
#include "miniapp/setup/machine/simulation.hpp"

namespace keel {

// Who chooses the communication scheme of each exchange: the deck, once for all; a machine's model or trials
// in this run, for each; none where all schemes are tried side by side.
enum class SchemeChooser { deck, automatic, tuned, nobody };
constexpr auto names_of(SchemeChooser) {
    return std::array{"deck", "auto", "tuned", "nobody"};
}

struct Communication {
    SchemeChooser chooser = SchemeChooser::deck;
    SchemeOptions scheme;  // the deck's, or standard where another chooses
    // Tried in this run for each exchange; none where the deck gives one.
    std::vector<Carrier> transports;
    ExchangeOptions exchange;
    AllReduceOptions all_reduce;
};

struct Resolved {
    int ranks = 1;    // planned for: the virtual ones of problem.ranks, or all that were started
    int started = 1;  // ranks of this run
    int rank = 0;     // this one
    Topology topology;
    Topology detected;                     // by MPI, of the ranks that were started
    std::optional<Model> machine;          // comm.machine
    std::optional<double> one_word;        // given seconds of a predicted all-reduce of one word
    std::optional<Simulation> simulation;  // nothing where time is real
    Communication comm;
    std::string backend;
    GpuSync gpu_sync = GpuSync::per_operation;
    bool deterministic = false;
    int warmup = 1;
    int repeats = 5;
    double least_seconds = 0;           // measured solves go on until they took so long together
    double triad_bytes = 0;             // on each node; 0 = by the cache
    double dry_run_limit = 1;           // as in DryRunLimit
    bool details = false;               // all times in the report, and records of each rank
    std::vector<std::string> remarks;   // what the deck asks for and does not get
    std::vector<std::string> warnings;  // what is odd about a run that may go on

    bool has_virtual_ranks() const { return ranks != started; }
    const Model* model() const { return machine ? &*machine : nullptr; }
};

// A Krylov method, or relaxation, with its keys of [bottom].
struct NamedSolver {
    std::string name;  // as reports have it
    BottomOptions options;
};
// The one that [bottom] gives.
inline std::vector<NamedSolver> solver_of_deck(const Deck& deck) {
    return {{deck.parameters.bottom.solver, deck.parameters.bottom}};
}

// Why a run cannot use that transport, and what to write instead; empty if it can. `direct`: MPI gets the
// memory of devices.
std::string why_not_carried_by(Carrier carrier, bool direct);

// The deck has passed validate(). Collective.
Resolved resolve(const Deck& deck, const NamedFiles& files, const Communicator& comm);

// The backend of this rank, on the device that is this rank's. Collective.
std::unique_ptr<Backend> make_backend(const Resolved& resolved, const Communicator& comm);

// Bytes a second of all ranks together: those in the file of a simulated machine, else the triad's, measured.
// Collective.
double bandwidth(const Resolved& resolved, const Communicator& comm, const Backend& backend);

}  // namespace keel
