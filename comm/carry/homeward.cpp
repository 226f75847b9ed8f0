#include "comm/carry/homeward.hpp"

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
Stage reversed(const Stage& stage) {
    Stage back{stage.phase, {}};
    for (const Message& message : stage.messages) {
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

// Which slot an item's parts are in on this rank.
class Slots {
  public:
    Slots(const Plan& plan, const Topology& topology, int rank, std::span<const Item> needed)
        : topology_(topology), rank_(rank) {
        for (const Item& item : needed) needed_.emplace(item, needed_.size());
        std::set<std::int64_t> homes;
        std::set<Item> relayed;
        plan.for_each_stage([&](const Stage& stage) {
            for (const Message& message : stage.messages)
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

    // Where parts of the item are added up that go to others than the owner's node; or what this rank itself has for an
    // owner of its node, which goes there by itself.
    std::size_t of(const Item& item, bool by_itself) const {
        if (item.owner == rank_) return homes_.at(item.name);
        return !by_itself && is_relayed(item) ? relays_.at(item) : needed_.at(item);
    }
    void describe(Homeward& way) const {
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

Traffic Homeward::traffic(int rank, const Topology& topology) const {
    Traffic sent;
    for (const Hop& hop : hops) sent += hop.plan.traffic(rank, topology, 1);
    return sent;
}

Homeward homeward(const Plan& plan, const Topology& topology, int rank, std::span<const Item> needed) {
    const Slots slots(plan, topology, rank, needed);
    Homeward way;
    slots.describe(way);
    const auto add = [&](Hop& hop, const Stage& stage, bool local) {
        for (const Message& message : stage.messages)
            for (const Item& item : message.items) {
                const Hop::Part part{part_of(item, message.target), slots.of(item, local)};
                if (message.target == rank) hop.sends.push_back(part);
                if (message.source == rank) hop.receives.push_back(part);
            }
    };
    check(!plan.stages.empty(), "a plan has a stage between nodes");
    for (auto stage = plan.stages.rbegin(); stage != plan.stages.rend(); ++stage) {
        Hop& hop = way.hops.emplace_back();
        hop.plan.local.phase = plan.local.phase;
        if (way.hops.size() == 1) {
            hop.plan.local = reversed(plan.local);
            add(hop, plan.local, true);
        }
        hop.plan.stages = {reversed(*stage)};
        add(hop, *stage, false);
        for (auto* const parts : {&hop.sends, &hop.receives}) std::ranges::sort(*parts, {}, &Hop::Part::item);
    }
    return way;
}

}  // namespace keel
