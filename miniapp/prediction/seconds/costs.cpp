#include "miniapp/prediction/seconds/costs.hpp"

#include <algorithm>

#include "comm/reductions/rounds.hpp"
#include "kernels/check.hpp"

namespace keel {

std::vector<ExchangePlan> exchange_plans(const GridSetup& grids, const Topology& topology,
                                         const std::vector<SchemeTable>& tables) {
    std::vector<ExchangePlan> plans;
    for (const SchemeTable& table : tables) {
        const GhostCells* const ghosts = table.use.ghosts();
        const MovedBoxes* const moves = table.use.moves();
        if (!ghosts && !moves) continue;
        const Topology among = table.use.among(topology);
        ExchangePlan& plan = plans.emplace_back(
            ExchangePlan{.level = table.use.level,
                         .use = ghosts ? ExchangeUse(ghosts->purpose) : ExchangeUse(moves->way),
                         .scheme = table.rows[table.chosen.value_or(0)].scheme,
                         .nodes = ghosts ? Representatives::of(table.use.layout, among)
                                         : Representatives::themselves(table.use.layout, among),
                         .plans = {},
                         .one_colour = ghosts && grids.hierarchy.one_colour_on(table.use.layout),
                         .moved = ghosts ? 0
                                         : static_cast<double>(table.use.layout.cell_count()) *
                                               boxes_moved(table.use).to().ranks_of_a_box()});
        plan.plans = plans_of(table.use, plan.nodes, plan.scheme);
    }
    return plans;
}

std::vector<Topology> ranks_by_level(const GridSetup& grids, const Topology& topology) {
    std::vector<Topology> levels;
    for (const LevelDistribution& place : grids.places(grids.finest()))
        levels.push_back(std::ssize(place.ranks) < topology.ranks() ? topology.among(place.ranks) : topology);
    return levels;
}

VirtualRanks virtual_ranks(const Resolved& resolved) {
    require_known({resolved.machine->machine, Memory::host}, resolved.topology);
    const bool by_mpi = resolved.comm.all_reduce.algorithm == AllReduceAlgorithm::mpi;
    return {.topology = resolved.topology,
            .model = *resolved.machine,
            .all_reduce = resolved.comm.all_reduce.algorithm,
            .progression = by_mpi ? Progression::by_mpi : Progression::by_program};
}

const Topology& Costs::ranks_of(int level) const {
    return ranks_.levels.empty() ? ranks_.topology : ranks_.levels[static_cast<std::size_t>(level)];
}

double Costs::work(double calls, const Work& work) const {
    return machine().compute->time(calls, work);
}

const Costs::OfExchange& Costs::exchange(int level, ExchangeUse use, std::size_t fields,
                                         std::size_t value_bytes, bool one_colour) {
    const auto [found, is_new] = exchanges_.try_emplace({level, use, fields, value_bytes, one_colour});
    OfExchange& cost = found->second;
    if (!is_new) return cost;
    const auto planned = std::ranges::find_if(
        plans_, [&](const ExchangePlan& plan) { return plan.level == level && plan.use == use; });
    check(planned != plans_.end(), "every exchange of a solve is planned for");
    const auto send = [&](const std::vector<Plan>& plans) {
        const SchemeRow row =
            planned->nodes.summary(planned->scheme, plans, fields, &ranks_.model, value_bytes);
        cost.wait = row.seconds() + machine().noise.exchange;
        cost.most = row.most_sent;
        cost.all = row.all;
    };
    if (one_colour) {
        cost = exchange(level, use, fields, value_bytes);
        if (!planned->one_colour) return cost;
        std::vector<Plan> plans = planned->plans;
        std::ranges::transform(plans, plans.begin(), of_one_colour);
        send(plans);
        return cost;
    }
    send(planned->plans);
    // Each value is read here and written there.
    cost.moved_by_all = 2 * planned->moved * static_cast<double>(fields * value_bytes);
    cost.packed_bytes = std::holds_alternative<VectorEntries::Use>(use) ? 2 * cost.most.bytes : 0;
    return cost;
}

double Costs::all_reduce(int level, std::size_t words) {
    double seconds = 0;
    for (const RoundTime& round : rounds(level, words, Waiting::blocking)) seconds += round.seconds;
    return seconds;
}

double Costs::gather(GatherAmong whom, std::size_t words) {
    const auto [found, is_new] = gathers_.try_emplace({whom, words});
    if (!is_new) return found->second;
    const Topology& all = ranks_.topology;
    check(whom != GatherAmong::coarsest || ranks_.coarsest, "who has rows of the coarsest level is known");
    if (whom == GatherAmong::coarsest && ranks_.coarsest->on_one_rank)
        return found->second = 2 * gather_time(machine(), ranks_.coarsest->topology.places(), words);
    const Topology among = whom == GatherAmong::all    ? all
                           : whom == GatherAmong::node ? all.among(all.ranks_on(0))
                                                       : ranks_.coarsest->topology;
    return found->second = all_gather_time(machine(), among.places(), words);
}

std::span<const RoundTime> Costs::rounds(int level, std::size_t words, Waiting waiting) {
    const Topology& topology = ranks_of(level);
    const auto [found, is_new] = all_reduces_.try_emplace({topology.ranks(), words, waiting});
    std::vector<RoundTime>& rounds = found->second;
    // One rank alone waits for no message.
    if (!is_new || topology.ranks() == 1) return rounds;
    if (ranks_.progression == Progression::by_mpi)
        rounds = {{all_reduce_time(machine(), topology, words, ranks_.all_reduce), 0}};
    else
        rounds = all_reduce_rounds(machine(), topology, words, ranks_.all_reduce);
    const Noise& noise = machine().noise;
    const bool by_mpi_in_flight = waiting == Waiting::in_flight && ranks_.progression == Progression::by_mpi;
    // The delay comes before the first message.
    if (!rounds.empty())
        rounds.front().seconds +=
            by_mpi_in_flight ? noise.nonblocking_all_reduce.value_or(noise.all_reduce) : noise.all_reduce;
    return rounds;
}

const Costs::AllReduceMessages& Costs::sum(int level, std::size_t words, WordType summands) {
    const Topology& topology = ranks_of(level);
    const auto [found, is_new] = sums_.try_emplace({topology.ranks(), words, summands});
    AllReduceMessages& sum = found->second;
    if (!is_new || ranks_.progression == Progression::by_mpi) return sum;
    const AllReduceAlgorithm algorithm = ranks_.all_reduce == AllReduceAlgorithm::automatic
                                             ? fastest_all_reduce(machine(), topology, words)
                                             : ranks_.all_reduce;
    for (int rank = 0; rank < topology.ranks(); ++rank) {
        const auto rounds = rounds_of(algorithm, topology, rank, words, summands);
        const Volume sent = volume_of(traffic_of(rounds, topology, rank));
        sum.most.raise_to(sent);
        sum.all.add(sent);
    }
    return sum;
}

}  // namespace keel
