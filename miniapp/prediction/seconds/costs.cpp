#include "miniapp/prediction/seconds/costs.hpp"

#include <algorithm>

#include "comm/reductions/rounds.hpp"
#include "kernels/check.hpp"

namespace keel {
namespace {

Model changed(Model model, const MachineChange& change) {
    Machine& machine = model.machine;
    machine.noise.all_reduce += change.all_reduce;
    if (auto& nonblocking = machine.noise.nonblocking_all_reduce) *nonblocking += change.all_reduce;
    if (machine.injection_beta) *machine.injection_beta *= 1 + change.bytes;
    for (auto& costs : machine.messages)
        for (const Protocol protocol : values_of<Protocol>())
            if (costs && costs->at(Locality::off_node, protocol)) {
                Postal& message = *costs->at(Locality::off_node, protocol);
                message.alpha += change.latency;
                message.beta *= 1 + change.bytes;
            }
    return model;
}

}  // namespace

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
            .progression = by_mpi ? Progression::by_mpi : Progression::by_program,
            .one_word = resolved.one_word};
}

const Topology& Costs::ranks_of(int level) const {
    return ranks_.levels.empty() ? ranks_.topology : ranks_.levels[static_cast<std::size_t>(level)];
}

double Costs::work(double calls, const Work& work, Op op, const DeviceCounts& device) const {
    const auto& launch = machine().launch;
    if (!launch) return machine().compute->time(calls, work);
    const bool in_block = op == Op::bottom_solve;
    return launch->time(device) +
           (in_block ? work.bytes / launch->block : machine().compute->time(calls, work));
}

const Costs::OfExchange& Costs::exchange(const Event& event) {
    const auto& [level, use, fields, value_bytes] =
        std::tie(event.level, event.use, event.fields, event.value_bytes);
    const auto [found, is_new] = exchanges_.try_emplace({level, use, fields, value_bytes, event.one_colour});
    OfExchange& cost = found->second;
    if (!is_new) return cost;
    const auto planned = std::ranges::find_if(
        plans_, [&](const ExchangePlan& plan) { return plan.level == event.level && plan.use == event.use; });
    check(planned != plans_.end(), "every exchange of a solve is planned for");
    const auto send = [&](const std::vector<Plan>& plans) {
        const SchemeRow row =
            planned->nodes.summary(planned->scheme, plans, event.fields, &ranks_.model, event.value_bytes);
        cost.wait = row.seconds() + machine().noise.exchange;
        cost.most = row.most_sent;
        cost.all = row.all;
    };
    if (event.one_colour) {
        Event both = event;
        both.one_colour = false;
        cost = exchange(both);
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
    return sum_of(rounds(level, words, Waiting::blocking));
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

std::vector<RoundTime> Costs::modelled_rounds(const Topology& among, std::size_t words) const {
    if (ranks_.progression == Progression::by_mpi)
        return {{all_reduce_time(machine(), among, words, ranks_.all_reduce), 0}};
    return all_reduce_rounds(machine(), among, words, ranks_.all_reduce);
}

std::span<const RoundTime> Costs::rounds(int level, std::size_t words, Waiting waiting) {
    const Topology& topology = ranks_of(level);
    const auto [found, is_new] = all_reduces_.try_emplace({topology.ranks(), words, waiting});
    std::vector<RoundTime>& rounds = found->second;
    // One rank alone waits for no message.
    if (!is_new || topology.ranks() == 1) return rounds;
    rounds = modelled_rounds(topology, words);
    if (ranks_.one_word) {
        // Fewer ranks take the modelled part of the given time, and further words are added as modelled.
        const double one = sum_of(modelled_rounds(topology, 1));
        const double given = *ranks_.one_word / sum_of(modelled_rounds(ranks_.topology, 1)) * one;
        const double longer = (sum_of(rounds) - one + given) / sum_of(rounds);
        for (RoundTime& round : rounds) {
            round.seconds *= longer;
            round.busy = std::min(round.busy, round.seconds);
        }
    }
    const Noise& noise = machine().noise;
    const bool by_mpi_in_flight = waiting == Waiting::in_flight && ranks_.progression == Progression::by_mpi;
    // The delay comes before the first message.
    if (!rounds.empty())
        rounds.front().seconds +=
            by_mpi_in_flight ? noise.nonblocking_all_reduce.value_or(noise.all_reduce) : noise.all_reduce;
    return rounds;
}

Costs& VariedCosts::with(const MachineChange& change) {
    VirtualRanks on_changed = ranks_;
    on_changed.model = changed(ranks_.model, change);
    return costs_.try_emplace(change, plans_, on_changed).first->second;
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
