#pragma once

// What the events of a solve cost on a machine: work by its bytes, exchanges by the time of their plans, sums by that of
// their rounds.

#include <cstddef>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "comm/costs/all_reduce_time.hpp"
#include "comm/costs/representatives.hpp"
#include "comm/sums/reduction.hpp"
#include "miniapp/schemes/scheme_table.hpp"

namespace keel {

// How ghosts of a level travel, planned for all ranks or for those that stand for them.
struct ExchangePlan {
    int level = 0;
    ExchangeUse use = GhostCells::Purpose::stencil;
    SchemeOptions scheme;
    Representatives nodes;
    std::vector<Plan> plans;  // by part of these
    // Values of one field that the first rank copies from box to box.
    double copied_values = 0;
};
// Those of ghost cells, by the chosen schemes or, where none is chosen, the first.
std::vector<ExchangePlan> exchange_plans(const GridSetup& grids, const Topology& topology,
                                         const std::vector<SchemeTable>& tables);

// The ranks that have rows of the coarsest level of algebraic multigrid, and whether it is gathered on the first of them alone,
// which hands the solution out again.
struct CoarsestRanks {
    Topology topology;
    bool on_one_rank = false;
};

// What moves a sum on that is under way: MPI, while the program computes, all the time; or, where its messages are ours, and
// counted, the program between two operations, or only when it waits for the sum.
enum class SumsMove { by_themselves, when_pushed, when_waited_for };
SumsMove move_of(const AllReduceOptions& options);

class Costs {
  public:
    // All of it must outlive the costs.
    Costs(const std::vector<ExchangePlan>& plans, const Topology& topology, const Model& model,
          AllReduceModel all_reduce, SumsMove sums = SumsMove::by_themselves,
          const CoarsestRanks* coarsest = nullptr);

    struct OfExchange {
        double wait = 0;          // seconds of the plan, and those that the machine's ranks are late
        Volume most, all;         // sent by the busiest rank, each number by itself, and by all
        double packed_bytes = 0;  // moved by it for one exchange, and as many to unpack
        double copied_bytes = 0;  // moved from box to box
    };

    // Of so many calls that did so much together.
    double work(double calls, const Work& work) const;
    const OfExchange& exchange(int level, ExchangeUse use, std::size_t fields,
                               std::size_t value_bytes = sizeof(double));
    double all_reduce(std::size_t words);
    double all_gather(std::size_t words);  // of so many of each rank
    double collect(std::size_t words);     // of so many of each rank with rows of the coarsest level
    // Of one that is under way: all of it together where it moves by itself.
    std::span<const RoundTime> rounds(std::size_t words);
    SumsMove sums_move() const { return sums_move_; }
    // Messages of ours for a sum: of the busiest rank, each number by itself, and of all.
    struct OfSum {
        Volume most, all;
    };
    const OfSum& sum(std::size_t words, Summands summands);

  private:
    const std::vector<ExchangePlan>& plans_;
    const Topology& topology_;
    const Model& model_;
    AllReduceModel all_reduce_;
    std::map<std::tuple<int, ExchangeUse, std::size_t, std::size_t>, OfExchange> exchanges_;
    SumsMove sums_move_;
    const CoarsestRanks* coarsest_;
    std::map<std::size_t, double> all_gathers_, collected_;      // by words
    std::map<std::size_t, std::vector<RoundTime>> all_reduces_;  // by words
    std::map<std::pair<std::size_t, Summands>, OfSum> sums_;
};

}  // namespace keel
