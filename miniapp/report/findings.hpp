#pragma once

// Findings of a run: the results of each mode, and the facts of the machine and the run that all reports
// begin with.

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "comm/ranks/topology.hpp"
#include "kernels/layout/domain.hpp"
#include "kernels/names.hpp"
#include "miniapp/report/timers.hpp"
#include "miniapp/setup/machine/hardware.hpp"
#include "miniapp/setup/machine/simulation.hpp"
#include "solvers/multigrid/redistribution/agglomeration.hpp"

namespace keel {

// The boxes of a domain, and the faces of its cells on the finest level.
struct DomainFacts {
    std::string shape;
    bool whole = true;  // all boxes of those around it
    int boxes = 0;
    int components = 1;  // parts that share no face
    long cells = 0;
    BoxFaces faces;
};

// One self-verification.
struct Check {
    std::string name;
    bool passed = false;
    double value = 0;
    std::string want;
};

Check all_converged(long converged, long solves);  // "solves_converged"
Check basis_orthogonality(double lost);            // KrylovMethod::orthogonality()

// The work of the solves behind a figure of merit; figures of solves with other tolerances cannot be
// compared.
struct SolveWork {
    std::optional<double> tolerance;  // nothing if they do not stop at one
    std::optional<double> digits;     // mean decrease of the residual; nothing if a solve gained none
};

struct FigureOfMerit {
    std::string name;  // "non_benchmark.dof_per_second"
    double value = 0;
    std::string unit;
    std::optional<SolveWork> work = {};  // if it counts solves

    bool earned() const { return !work || work->digits; }
};

struct RunFacts {
    // --- Of every run
    std::optional<Simulation> simulation;  // nothing where time is real
    int ranks = 1;
    int threads = 1;
    std::string backend;
    std::vector<std::string> devices;  // by rank; empty texts where the host computes
    int device_sharing = 1;            // the most ranks on one device
    int devices_in_use = 0;
    // Bandwidth of the devices' memory, all together, as their driver states it; 0 if unknown.
    double device_bytes_per_second = 0;
    std::string device_messages;  // how a device's messages travel; empty where the host computes
    std::string mpi;
    std::string asynchronous_progress;  // whether this MPI has it, as far as known
    Topology topology;
    std::vector<std::pair<std::string, int>> hosts;  // names and numbers of ranks
    std::optional<Hardware> hardware;                // of rank 0's node; nothing of simulated ranks
    int other_nodes = 0;                             // nodes with other hardware
    bool shared_cores = false;                       // more threads on a node than it has processors
    std::vector<std::string> bindings;               // by rank; none of simulated ones
    std::vector<std::string> warnings;
    // --- Of a mode that has them
    std::optional<DomainFacts> domain;
    std::size_t dimensions = 3;
    std::vector<LevelShape> levels;     // none without grids
    double triad_bytes_per_second = 0;  // all ranks together
    // Memory of the rank with most: its least need, and the name of that; all of it with ghosts,
    // padding and buffers, as predicted.
    std::string least_memory;
    double array_bytes = 0;
    double predicted_bytes = 0;
    // --- Known when the right-hand side is
    double removed_mean = 0;  // mean of f over max|f|, if the problem is singular
    bool zero_right_side = false;
    double norm_f = 0;  // max|f|
    // --- Known when the run ends
    double mpi_start_seconds = 0;  // the slowest rank
    double total_seconds = 0;      // of rank 0, from before the start of MPI on
    double setup_seconds = 0;
    double coefficients_seconds = 0;  // a step's, for new coefficients
    double tuning_seconds = 0;        // spent on trying communication schemes
    double graph_replays = 0;         // in the measured solves, on rank 0
    // Growth of the resident set from before anything was built to its peak, on the rank with most.
    double measured_bytes = 0;

    Index cells(std::size_t level) const;  // in each direction; zeros without grids
};

// The reason why a run ends before all is done.
enum class Interruption { none, time_limit, signal };
constexpr auto names_of(Interruption) {
    return std::array{"none", "time_limit", "signal"};
}

// How many of the things that were to be done were done.
struct Tally {
    std::string what;  // "solves"
    int done = 0;
    int all = 0;
    bool at_least = false;  // more than all may have come, had the run not been ended
};

// Findings of the Keel benchmark.
struct BenchmarkFindings {
    int rules = 0;                     // number of the rules
    std::string category;              // the class: base, tuned, mixed
    std::vector<std::string> changed;  // "solver: multigrid.pre = 3"
    std::vector<std::string> marks;    // reasons not to submit the result
    std::string json;                  // fields of the record
    std::string text;                  // lines to submit
};

// Complete on rank 0.
struct Findings {
    RunFacts facts;
    std::vector<Check> checks;
    std::optional<FigureOfMerit> merit;
    std::optional<BenchmarkFindings> benchmark = {};
    std::string submission = {};  // the closing block of a benchmark
    double seconds = 0;           // behind the figure of merit
    // Per solve; none if several solvers have their own, or nothing is solved.
    std::optional<Parts> parts;
    std::optional<Movement> moved;
    std::string trouble;  // why not all could be written: the run is then invalid, but is reported
    std::vector<Tally> tallies;
    Interruption interruption = Interruption::none;  // before all was done; the same on all ranks

    bool interrupted() const { return interruption != Interruption::none; }
    bool measured_any() const;  // a piece of work that counts was timed
    // Something was measured and checked, all was done and written, and every check passed.
    bool valid() const;
};

// Takes a report in parts, each as soon as it is known, so that a run that dies leaves the parts before. Only
// rank 0's is printed.
class Reporter {
  public:
    virtual ~Reporter() = default;
    // The header; before anything else, when the facts are known but for those of the end.
    virtual void begin(const RunFacts& facts) = 0;
    virtual void tell(const std::string& text) = 0;     // between the header and the closing lines
    virtual void record(const std::string& lines) = 0;  // for programs: whole lines of JSON
};

}  // namespace keel
