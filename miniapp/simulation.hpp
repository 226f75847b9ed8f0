#pragma once

// One run: builds the problem, solves it repeatedly, checks the answer, and hands over everything there is to report.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "comm/topology.hpp"
#include "kernels/backends/registry.hpp"
#include "kernels/ledger.hpp"
#include "miniapp/checks.hpp"
#include "miniapp/parameters.hpp"
#include "solvers/multigrid.hpp"

namespace keel {

// One operation on one level, per solve, over all ranks.
struct TimerRow {
    std::string op;
    int level = 0;
    double calls = 0;  // on rank 0
    double t_min = 0, t_mean = 0, t_max = 0;
    int rank_max = 0;        // the rank that took t_max
    double bytes_moved = 0;  // all ranks, by declared costs
    double flops = 0;        // all ranks
    // Messages sent: the busiest rank, and all ranks together.
    double messages = 0, bytes = 0, off_node_messages = 0, off_node_bytes = 0;
    double all_messages = 0, all_bytes = 0, all_off_node_messages = 0, all_off_node_bytes = 0;
    double words = 0;  // in all-reduces
};

struct SolveRecord {
    SolveReport report;
    double seconds = 0;  // the slowest rank, set-up not counted
    long reductions = 0;
    long reduction_words = 0;
    long exchanges = 0;
    double u_l2 = 0;
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
    // Memory of the rank with most: the grids' cells alone; those with ghosts, padding and buffers, as predicted; and
    // the growth of the resident set from before the hierarchy was built to its peak.
    double array_bytes = 0;
    double predicted_bytes = 0;
    double measured_bytes = 0;
};

struct Results {
    RunFacts facts;
    std::vector<SolveRecord> solves;  // the measured ones
    std::vector<TimerRow> timers;     // complete on rank 0
    std::vector<Check> checks;
    double figure_of_merit = 0;  // cells / median seconds

    bool valid() const;
    double median_seconds() const;
};

// Collective. `progress` is told what goes on, on rank 0 only. The parameters have passed validate().
Results simulate(const Parameters& parameters, const Communicator& comm, const Backend& backend,
                 const std::function<void(const std::string&)>& progress);

// What both a run and --dry-run derive from the deck.
Layout finest_layout(const Parameters& parameters, int ranks, int rank);
Topology topology_of(const Parameters& parameters, const Communicator& comm);
HierarchyOptions hierarchy_options(const Parameters& parameters);

// The backend of this rank, on a device that its number among the ranks of its node picks. Collective.
std::unique_ptr<Backend> backend_of(const Parameters& parameters, const Communicator& comm);
// The most ranks on one device, of `devices` by rank and nodes as detected; 1 where the host computes.
int most_ranks_per_device(const std::vector<std::string>& devices, const Topology& detected);

}  // namespace keel
