#pragma once

// One run: builds the problem, solves it repeatedly, checks the answer, and hands over everything there is to report.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "comm/ranks/communicator.hpp"
#include "comm/ranks/topology.hpp"
#include "kernels/backends/registry.hpp"
#include "miniapp/deck/parameters.hpp"
#include "miniapp/report/measure.hpp"
#include "miniapp/schemes/scheme_table.hpp"
#include "miniapp/studies/grids/checks.hpp"
#include "miniapp/studies/network/network.hpp"
#include "miniapp/studies/spmv/spmv.hpp"
#include "solvers/krylov/krylov.hpp"
#include "solvers/multigrid/multigrid.hpp"

namespace keel {

// One multigrid solve.
struct SolveRecord {
    std::string solver;  // at the bottom
    SolveReport report;
    SolveCost cost;
    double u_l2 = 0;
};

// One solve by a Krylov method on the finest grid.
struct KrylovRecord {
    std::string solver;
    Report report;  // its norms are of the system that the method sees (solvers/systems/scaled_system.hpp)
    SolveCost cost;
    long v_cycles = 0;  // of the preconditioner
    double u_l2 = 0;

    bool converged() const { return report.succeeded(); }
};

struct RunFacts {
    int ranks = 1;
    int threads = 1;
    std::string backend;
    std::vector<std::string> devices;  // by rank; empty texts where the host computes
    int device_sharing = 1;            // the most ranks on one device
    double graph_replays = 0;          // of the measured solves, on rank 0
    std::string device_messages;       // how a device's messages travel; empty where the host computes
    std::string mpi;
    std::string asynchronous_progress;  // of this MPI, as far as known
    Topology topology;
    bool shared_cores = false;          // more threads on a node than it has processors
    std::vector<std::string> bindings;  // by rank
    Index boxes{};
    Index cells{};
    std::vector<Index> level_cells;
    std::vector<int> level_boxes;       // their width
    double triad_bytes_per_second = 0;  // all ranks together
    double setup_seconds = 0;
    // All schemes on every level, complete on rank 0, and what it took to try them; none where there was nothing to choose.
    std::vector<SchemeTable> schemes;
    double tuning_seconds = 0;
    // Memory of the rank with most: the grids' cells alone; those with ghosts, padding and buffers, as predicted; and
    // the growth of the resident set from before the hierarchy was built to its peak.
    double array_bytes = 0;
    double predicted_bytes = 0;
    double measured_bytes = 0;
};

// What each mode brings home: the measured solves, and where their time went, complete on rank 0.
struct SolveResults {
    std::vector<SolveRecord> solves;
    std::vector<TimerRow> timers;
};
struct KrylovResults {
    std::vector<KrylovRecord> solves;
    std::vector<TimerRow> timers;
};
struct SurveyResults {
    struct Row {
        std::string solver;
        std::vector<SolveRecord> solves;  // one a round
        std::vector<TimerRow> timers;

        bool converged() const;  // every round
        std::vector<double> seconds() const;
    };
    std::vector<Row> rows;  // the baseline first

    // Median seconds of the baseline over those of the row; nothing unless both converged.
    std::optional<double> speed_up(const Row& row) const;
};

// Exchanges were timed: what came of it is in RunFacts::schemes.
struct ExchangeResults {};

struct Results {
    RunFacts facts;
    std::variant<SolveResults, KrylovResults, SurveyResults, NetworkResults, ExchangeResults, SpmvResults>
        of_mode;
    std::vector<Check> checks;
    double seconds =
        0;  // median of the measured solves; in a survey those of the fastest solver that converged

    bool valid() const;
    double figure_of_merit() const;  // cells / seconds
};

using Progress = std::function<void(const std::string&)>;

// Collective. `progress` is told what goes on, on rank 0 only. The parameters have passed validate().
Results simulate(const Parameters& parameters, const Communicator& comm, const Backend& backend,
                 const Progress& progress);

// What both a run and --dry-run derive from the deck.
int ranks_of(const Parameters& parameters, const Communicator& comm);  // problem.ranks, or those there are
Layout finest_layout(const Parameters& parameters, int ranks, int rank);
Topology topology_of(const Parameters& parameters, const Communicator& comm);
HierarchyOptions hierarchy_options(const Parameters& parameters);

// The backend of this rank, on a device that its number among the ranks of its node picks. Collective.
std::unique_ptr<Backend> backend_of(const Parameters& parameters, const Communicator& comm);
// The most ranks on one device, of `devices` by rank and nodes as detected; 1 where the host computes.
int most_ranks_per_device(const std::vector<std::string>& devices, const Topology& detected);

}  // namespace keel
