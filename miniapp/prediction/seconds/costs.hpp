#pragma once

// The costs of a solve's events on a machine: of work by its bytes, of exchanges by the time of their plans,
// of sums by that of their rounds.

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "comm/costs/collective_time.hpp"
#include "comm/costs/representatives.hpp"
#include "comm/reductions/reduction.hpp"
#include "miniapp/prediction/counting/trace.hpp"
#include "miniapp/schemes/scheme_table.hpp"
#include "miniapp/setup/resolved.hpp"

namespace keel {

// How ghosts of a level travel, planned for all ranks or for nodes that represent them.
struct ExchangePlan {
    int level = 0;
    ExchangeUse use = GhostCells::Purpose::stencil;
    SchemeOptions scheme;
    Representatives nodes;
    std::vector<Plan> plans;  // by part of these
    bool one_colour = false;  // messages carry one colour alone where one is wanted
    // Values of one field that all ranks pack and unpack, if boxes are merged or come back: each rank as its
    // trace has it, not as the one that is busiest.
    double moved = 0;
};
// The plans of ghost cells and of merged boxes, by the chosen schemes or, where none is chosen, the first.
std::vector<ExchangePlan> exchange_plans(const GridSetup& grids, const Topology& topology,
                                         const std::vector<SchemeTable>& tables);

// The ranks that have rows of the coarsest level of algebraic multigrid, and whether it is gathered on the
// first of them alone, which hands the solution out again.
struct CoarsestRanks {
    Topology topology;
    bool on_one_rank = false;
};

// The ranks that have some of a level, level by level.
std::vector<Topology> ranks_by_level(const GridSetup& grids, const Topology& topology);

// Who progresses an all-reduce in flight: MPI, all the time while the program computes; or, where Keel sends
// its messages, the program between two operations.
enum class Progression { by_mpi, by_program };

// The ranks that a solve is predicted for, and what work, messages and sums cost there. All that it refers to
// outlives it.
struct VirtualRanks {
    const Topology& topology;
    Model model;
    AllReduceAlgorithm all_reduce = AllReduceAlgorithm::mpi;
    Progression progression = Progression::by_mpi;
    const CoarsestRanks* coarsest = nullptr;
    std::span<const Topology> levels = {};  // empty: all have some of every level
    // Seconds of an all-reduce of one word among all ranks, in place of the modelled ones.
    std::optional<double> one_word = {};
};
// As the deck has them. Throws MissingParameter, with all that is missing: sums are of the host, wherever
// fields are.
VirtualRanks virtual_ranks(const Resolved& resolved);

class Costs {
  public:
    // The plans must outlive the costs.
    Costs(const std::vector<ExchangePlan>& plans, const VirtualRanks& ranks) : plans_(plans), ranks_(ranks) {}

    struct OfExchange {
        double wait = 0;          // seconds of the plan and of the machine's delay
        Volume most, all;         // sent by the busiest rank, each number by itself; and by all
        double packed_bytes = 0;  // moved by that rank to pack, and to unpack; of grids the trace has them
        double moved_by_all = 0;  // likewise by all, of boxes that are merged or come back
    };

    // Seconds of `calls` calls that did `work` together, and asked a device for this.
    double work(double calls, const Work& work, Op op = Op::vector, const DeviceCounts& device = {}) const;
    // The messages of an event.
    const OfExchange& exchange(const Event& event);
    // Seconds of an all-reduce among the ranks that have some of a level; and of gathering `words` words from
    // each rank of some.
    double all_reduce(int level, std::size_t words);
    double gather(GatherAmong whom, std::size_t words);
    // The rounds of an all-reduce: one for all of it where it moves by itself. MPI may take longer for one in
    // flight.
    enum class Waiting { blocking, in_flight };
    std::span<const RoundTime> rounds(int level, std::size_t words, Waiting waiting);
    Progression progression() const { return ranks_.progression; }
    double look() const { return machine().compute->look.value_or(0); }
    // Keel's own messages of an all-reduce: of the busiest rank, each number by itself, and of all.
    struct AllReduceMessages {
        Volume most, all;
    };
    const AllReduceMessages& sum(int level, std::size_t words, WordType summands);

  private:
    const Topology& ranks_of(int level) const;
    std::vector<RoundTime> modelled_rounds(const Topology& among, std::size_t words) const;
    const Machine& machine() const { return ranks_.model.machine; }

    const std::vector<ExchangePlan>& plans_;
    VirtualRanks ranks_;
    std::map<std::tuple<int, ExchangeUse, std::size_t, std::size_t, bool>, OfExchange> exchanges_;
    std::map<std::pair<GatherAmong, std::size_t>, double> gathers_;  // by words
    // By the number of ranks, of which coarser levels have some of those of finer ones.
    std::map<std::tuple<int, std::size_t, Waiting>, std::vector<RoundTime>> all_reduces_;
    std::map<std::tuple<int, std::size_t, WordType>, AllReduceMessages> sums_;
};

// Additions to a machine's numbers: seconds of each all-reduce; of the latency of each message between nodes,
// whose overhead stays; and of each byte between nodes, as a part of the machine's own.
struct MachineChange {
    double all_reduce = 0;
    double latency = 0;
    double bytes = 0;

    friend auto operator<=>(const MachineChange&, const MachineChange&) = default;
};

// The costs on the machine and on changed ones, each made once.
class VariedCosts {
  public:
    // The plans, and all that `ranks` refers to, must outlive this object.
    VariedCosts(const std::vector<ExchangePlan>& plans, const VirtualRanks& ranks)
        : plans_(plans), ranks_(ranks) {}

    const VirtualRanks& ranks() const { return ranks_; }
    Costs& with(const MachineChange& change);

  private:
    const std::vector<ExchangePlan>& plans_;
    VirtualRanks ranks_;
    std::map<MachineChange, Costs> costs_;
};

}  // namespace keel
