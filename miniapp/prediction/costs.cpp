#include "miniapp/prediction/costs.hpp"

#include <algorithm>

#include "comm/costs/gather_time.hpp"
#include "comm/sums/rounds.hpp"
#include "kernels/check.hpp"

namespace keel {

std::vector<ExchangePlan> exchange_plans(const GridSetup& grids, const Topology& topology,
                                         const std::vector<SchemeTable>& tables) {
    std::vector<ExchangePlan> plans;
    for (const SchemeTable& table : tables) {
        const GhostCells* const ghosts = table.use.ghosts();
        if (!ghosts) continue;
        const SchemeOptions scheme = table.rows[table.chosen.value_or(0)].scheme;
        double copied = 0;
        for (const Need& need : ghost_pattern(table.use.layout, ghosts->depth, ghosts->neighbours).copies())
            copied += static_cast<double>(need.source.cells());
        ExchangePlan& plan = plans.emplace_back(ExchangePlan{table.use.level,
                                                             ghosts->purpose,
                                                             scheme,
                                                             Representatives::of(table.use.layout, topology),
                                                             {},
                                                             copied});
        for (const Representatives::Part& part : plan.nodes.parts()) {
            const SchemeUse use{table.use.level, part.layout, table.use.what, table.use.columns,
                                table.use.value_bytes};
            plan.plans.push_back(plan_of(grids.hierarchy, use, part.topology, scheme, {}));
        }
    }
    return plans;
}

SumsMove move_of(const AllReduceOptions& options) {
    if (options.algorithm == AllReduceAlgorithm::mpi) return SumsMove::by_themselves;
    return options.progress ? SumsMove::when_pushed : SumsMove::when_waited_for;
}

Costs::Costs(const std::vector<ExchangePlan>& plans, const Topology& topology, const Model& model,
             AllReduceModel all_reduce, SumsMove sums, const CoarsestRanks* coarsest)
    : plans_(plans),
      topology_(topology),
      model_(model),
      all_reduce_(all_reduce),
      sums_move_(sums),
      coarsest_(coarsest) {}

double Costs::work(double calls, const Work& work) const {
    return model_.machine.compute->time(calls, work);
}

const Costs::OfExchange& Costs::exchange(int level, ExchangeUse use, std::size_t fields,
                                         std::size_t value_bytes) {
    const auto [found, is_new] = exchanges_.try_emplace({level, use, fields, value_bytes});
    OfExchange& cost = found->second;
    if (!is_new) return cost;
    const auto planned = std::ranges::find_if(
        plans_, [&](const ExchangePlan& plan) { return plan.level == level && plan.use == use; });
    check(planned != plans_.end(), "every exchange of a solve is planned for");
    const SchemeRow row =
        planned->nodes.summary(planned->scheme, planned->plans, fields, &model_, value_bytes);
    cost.wait = row.seconds() + model_.machine.noise.exchange;
    cost.most = row.most_sent;
    cost.all = row.all;
    // Each value is read here and written there.
    cost.packed_bytes = 2 * row.most_sent.bytes;
    cost.copied_bytes = 2 * planned->copied_values * static_cast<double>(fields * value_bytes);
    return cost;
}

double Costs::all_reduce(std::size_t words) {
    double seconds = 0;
    for (const RoundTime& round : rounds(words)) seconds += round.seconds;
    return seconds;
}

double Costs::all_gather(std::size_t words) {
    const auto [found, is_new] = all_gathers_.try_emplace(words);
    if (is_new) found->second = all_gather_time(model_.machine, topology_.places(), words);
    return found->second;
}

double Costs::collect(std::size_t words) {
    check(coarsest_ != nullptr, "who has rows of the coarsest level is known");
    const auto [found, is_new] = collected_.try_emplace(words);
    const RankPlaces ranks = coarsest_->topology.places();
    if (is_new)
        found->second = coarsest_->on_one_rank ? 2 * gather_time(model_.machine, ranks, words)
                                               : all_gather_time(model_.machine, ranks, words);
    return found->second;
}

std::span<const RoundTime> Costs::rounds(std::size_t words) {
    const auto [found, is_new] = all_reduces_.try_emplace(words);
    std::vector<RoundTime>& rounds = found->second;
    if (!is_new) return rounds;
    if (sums_move_ == SumsMove::by_themselves)
        rounds = {{all_reduce_time(model_.machine, topology_.places(), words, all_reduce_), 0}};
    else
        rounds = all_reduce_rounds(model_.machine, topology_.places(), words, all_reduce_);
    // Ranks that are late are so from the beginning.
    if (!rounds.empty()) rounds.front().seconds += model_.machine.noise.all_reduce;
    return rounds;
}

const Costs::OfSum& Costs::sum(std::size_t words, Summands summands) {
    const auto [found, is_new] = sums_.try_emplace({words, summands});
    OfSum& sum = found->second;
    if (!is_new || sums_move_ == SumsMove::by_themselves) return sum;
    const AllReduceAlgorithm algorithm = algorithm_of(all_reduce_, model_.machine, topology_.places(), words);
    for (int rank = 0; rank < topology_.ranks(); ++rank) {
        const auto rounds = rounds_of(algorithm, topology_, rank, words, summands);
        const Traffic sent = traffic_of(rounds, topology_, rank);
        const double numbers[] = {static_cast<double>(sent.messages), static_cast<double>(sent.bytes),
                                  static_cast<double>(sent.off_node_messages),
                                  static_cast<double>(sent.off_node_bytes)};
        for (std::size_t n = 0; n < volume_members.size(); ++n) {
            sum.most.*volume_members[n] = std::max(sum.most.*volume_members[n], numbers[n]);
            sum.all.*volume_members[n] += numbers[n];
        }
    }
    return sum;
}

}  // namespace keel
