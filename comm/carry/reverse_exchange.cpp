#include "comm/carry/reverse_exchange.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "kernels/check.hpp"

namespace keel {
namespace {

Item part_of(const Item& item, int sender) {
    return {sender, 1, item.name};
}

// The messages from their targets to their sources.
PhaseMessages reversed(const PhaseMessages& phase) {
    PhaseMessages back{phase.phase, {}};
    for (const Message& message : phase.messages) {
        Message& one =
            back.messages.emplace_back(Message{message.target, message.source, message.sequence, {}});
        for (const Item& item : message.items) one.items.push_back(part_of(item, message.target));
        std::ranges::sort(one.items);
    }
    std::ranges::sort(back.messages, [](const Message& a, const Message& b) {
        return std::tuple(a.source, a.target, a.sequence) < std::tuple(b.source, b.target, b.sequence);
    });
    return back;
}

// The slots of the contributions to an item on this rank.
class Slots {
  public:
    Slots(const Plan& plan, const Topology& topology, int rank, std::span<const Item> needed)
        : topology_(topology), rank_(rank) {
        for (const Item& item : needed) needed_.emplace(item, needed_.size());
        std::set<std::int64_t> homes;
        std::set<Item> relayed;
        plan.for_each_phase([&](const PhaseMessages& phase) {
            for (const Message& message : phase.messages)
                for (const Item& item : message.items) {
                    if (message.source != rank) continue;
                    if (item.owner == rank)
                        homes.insert(item.name);
                    else if (is_relayed(item))
                        relayed.insert(item);
                }
        });
        for (const Item& item : relayed) relays_.emplace(item, needed_.size() + relays_.size());
        for (const std::int64_t name : homes)
            homes_.emplace(name, needed_.size() + relays_.size() + homes_.size());
    }

    // The slot where contributions to the item are added up; `by_itself`: that of this rank alone, which goes
    // straight to an owner on its node.
    std::size_t of(const Item& item, bool by_itself) const {
        if (item.owner == rank_) return homes_.at(item.name);
        return !by_itself && is_relayed(item) ? relays_.at(item) : needed_.at(item);
    }
    void describe(ReverseExchange& way) const {
        way.contributions = needed_.size();
        way.relays = relays_.size();
        for (const auto& [name, slot] : homes_) way.homes.push_back(name);
    }

  private:
    bool is_relayed(const Item& item) const {
        return topology_.same_node(item.owner, rank_) || !needed_.contains(item);
    }

    const Topology& topology_;
    int rank_;
    std::map<Item, std::size_t> needed_, relays_;
    std::map<std::int64_t, std::size_t> homes_;
};

}  // namespace

Traffic ReverseExchange::traffic(int rank, const Topology& topology) const {
    Traffic sent;
    for (const ReverseStage& stage : stages) sent += stage.plan.traffic(rank, topology, 1);
    return sent;
}

ReverseExchange reverse_exchange(const Plan& plan, const Topology& topology, int rank,
                                 std::span<const Item> needed) {
    const Slots slots(plan, topology, rank, needed);
    ReverseExchange way;
    slots.describe(way);
    const auto add = [&](ReverseStage& stage, const PhaseMessages& phase, bool local) {
        for (const Message& message : phase.messages)
            for (const Item& item : message.items) {
                const ReverseStage::Contribution part{part_of(item, message.target), slots.of(item, local)};
                if (message.target == rank) stage.sends.push_back(part);
                if (message.source == rank) stage.receives.push_back(part);
            }
    };
    check(!plan.phases.empty(), "a plan has a phase between nodes");
    for (auto phase = plan.phases.rbegin(); phase != plan.phases.rend(); ++phase) {
        ReverseStage& stage = way.stages.emplace_back();
        stage.plan.carrier = plan.carrier;
        stage.plan.local.phase = plan.local.phase;
        if (way.stages.size() == 1) {
            stage.plan.local = reversed(plan.local);
            add(stage, plan.local, true);
        }
        stage.plan.phases = {reversed(*phase)};
        add(stage, *phase, false);
        for (auto* const parts : {&stage.sends, &stage.receives})
            std::ranges::sort(*parts, {}, &ReverseStage::Contribution::item);
    }
    return way;
}

}  // namespace keel
