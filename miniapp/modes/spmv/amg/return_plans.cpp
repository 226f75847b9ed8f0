#include "miniapp/modes/spmv/amg/return_plans.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "comm/carry/reverse_exchange.hpp"
#include "kernels/check.hpp"

namespace keel {
namespace {

using Columns = std::vector<std::int64_t>;  // ascending

void append_columns(const GlobalRows& rows, std::int64_t row, Columns& list) {
    const auto r = static_cast<std::size_t>(row);
    list.insert(list.end(), rows.columns.begin() + rows.first[r], rows.columns.begin() + rows.first[r + 1]);
}

// Each rank's part of a plan for all.
std::vector<Plan> by_rank(const Plan& all, int ranks) {
    std::vector<Plan> plans(static_cast<std::size_t>(ranks));
    for (Plan& plan : plans) {
        plan.local.phase = all.local.phase;
        for (const PhaseMessages& phase : all.phases) plan.phases.push_back({phase.phase, {}});
    }
    const auto share_out = [&](const PhaseMessages& phase, const auto& of_plan) {
        for (const Message& message : phase.messages) {
            of_plan(plans[static_cast<std::size_t>(message.source)]).messages.push_back(message);
            of_plan(plans[static_cast<std::size_t>(message.target)]).messages.push_back(message);
        }
    };
    share_out(all.local, [](Plan& plan) -> PhaseMessages& { return plan.local; });
    for (std::size_t s = 0; s < all.phases.size(); ++s)
        share_out(all.phases[s], [s](Plan& plan) -> PhaseMessages& { return plan.phases[s]; });
    return plans;
}

// Adds what a rank sends, each item so long.
template <class Length>
void add_sent(PhaseMessages& all, const PhaseMessages& phase, int rank, const Length& length) {
    all.phase = phase.phase;
    for (const Message& message : phase.messages) {
        if (message.source != rank) continue;
        Message& sent = all.messages.emplace_back(message);
        for (Item& item : sent.items) item.values = length(item);
    }
}

const ReverseStage::Contribution& part_of(const std::vector<ReverseStage::Contribution>& parts,
                                          const Item& item) {
    const auto found = std::ranges::lower_bound(parts, item, {}, &ReverseStage::Contribution::item);
    check(found != parts.end() && found->item == item, "what arrives was sent");
    return *found;
}

}  // namespace

PartialColumns partial_columns(const GlobalRows& A, const GlobalRows& P, const RowPartition& rows,
                               const std::vector<std::vector<Item>>& needed) {
    PartialColumns parts(needed.size());
    Columns of_row;  // a row of A P
    for (std::size_t rank = 0; rank < needed.size(); ++rank) {
        const std::vector<Item>& ghosts = needed[rank];
        parts[rank].resize(ghosts.size());
        if (ghosts.empty()) continue;
        Columns names;
        for (const Item& ghost : ghosts) names.push_back(ghost.name);  // ascending, as their owners are
        for (std::int64_t row = rows.first(static_cast<int>(rank));
             row < rows.first(static_cast<int>(rank) + 1); ++row) {
            of_row.clear();
            Columns of_P;
            append_columns(P, row, of_P);
            for (const std::int64_t column : of_P) {
                const auto found = std::ranges::lower_bound(names, column);
                if (found == names.end() || *found != column) continue;
                if (of_row.empty()) {
                    Columns of_A;
                    append_columns(A, row, of_A);
                    for (const std::int64_t k : of_A) append_columns(P, k, of_row);
                    sort_distinct(of_row);
                }
                Columns& part = parts[rank][static_cast<std::size_t>(found - names.begin())];
                part.insert(part.end(), of_row.begin(), of_row.end());
            }
        }
        for (Columns& part : parts[rank]) {
            sort_distinct(part);
            part.shrink_to_fit();
        }
    }
    return parts;
}

ReturnPlans return_plans(const Plan& there, const Topology& topology,
                         const std::vector<std::vector<Item>>& needed, const PartialColumns& parts) {
    const int ranks = topology.ranks();
    std::vector<ReverseExchange> ways;
    PartialColumns slots = parts;
    {
        std::vector<Plan> plans = by_rank(there, ranks);
        for (int rank = 0; rank < ranks; ++rank) {
            const auto r = static_cast<std::size_t>(rank);
            ways.push_back(reverse_exchange(std::exchange(plans[r], {}), topology, rank, needed[r]));
            slots[r].resize(ways[r].slots());
        }
    }
    ReturnPlans all;
    for (std::size_t h = 0; h < there.phases.size(); ++h) {
        PhaseMessages& values = all.values.phases.emplace_back();
        PhaseMessages& rows = all.rows.phases.emplace_back();
        for (int rank = 0; rank < ranks; ++rank) {
            const auto r = static_cast<std::size_t>(rank);
            const ReverseStage& stage = ways[r].stages[h];
            const auto one = [](const Item&) { return 1; };
            const auto row = [&](const Item& item) {
                return static_cast<int>(2 * slots[r][part_of(stage.sends, item).slot].size());
            };
            add_sent(values, stage.plan.phases.front(), rank, one);
            add_sent(rows, stage.plan.phases.front(), rank, row);
            if (h > 0) continue;
            add_sent(all.values.local, stage.plan.local, rank, one);
            add_sent(all.rows.local, stage.plan.local, rank, row);
        }
        // Everything is sent before anything is merged.
        std::vector<std::pair<Columns*, Columns>> arrived;
        for (std::size_t r = 0; r < ways.size(); ++r)
            for (const ReverseStage::Contribution& part : ways[r].stages[h].receives) {
                const auto sender = static_cast<std::size_t>(part.item.owner);
                arrived.emplace_back(&slots[r][part.slot],
                                     slots[sender][part_of(ways[sender].stages[h].sends, part.item).slot]);
            }
        for (auto& [slot, columns] : arrived) {
            Columns both;
            std::ranges::set_union(*slot, columns, std::back_inserter(both));
            *slot = std::move(both);
        }
    }
    return all;
}

}  // namespace keel
