#pragma once

// Carries out a plan for all ranks message by message, on sets, sharing nothing with the planners; the tests'
// second opinion on whether every rank gets what it needs.

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "comm/plans/plan.hpp"

namespace keel::test {

// The first thing that is wrong with a plan; empty if nothing is. `once`: an item crosses to a node only once
// (not so in the standard plan, nor along axes, which know no nodes).
inline std::string complaint(const Plan& plan, const std::vector<Request>& requests,
                             const std::vector<int>& node_of, bool once) {
    using Held = std::pair<int, std::pair<int, std::int64_t>>;  // rank, owner and name of an item
    const auto held = [](int rank, const Item& item) { return Held{rank, {item.owner, item.name}}; };
    const auto node = [&](int rank) { return node_of.at(static_cast<std::size_t>(rank)); };
    std::set<Held> needed;
    for (const Request& r : requests) needed.insert(held(r.rank, r.item));
    std::map<Held, int> delivered;  // how often it came to whom
    std::set<Held> in_stages;       // the same without `local`, which no phase may wait for
    std::set<Held> passing;         // came to a rank that has yet to pass it on
    std::map<Held, int> crossed;    // to nodes
    std::set<Held> to_senders;

    const auto carry = [&](const PhaseMessages& phase) -> std::string {
        const bool axis = phase.phase >= Phase::axis_x;
        const std::set<Held> at_start = in_stages;
        const std::set<Held> gathered = to_senders;
        const Message* last = nullptr;
        for (const Message& m : phase.messages) {
            const std::string where = std::string(name(phase.phase)) + " " + std::to_string(m.source) + "->" +
                                      std::to_string(m.target) + ": ";
            if (m.source == m.target) return where + "to itself";
            if (m.items.empty()) return where + "empty";
            if (!axis && (node(m.source) == node(m.target)) != (phase.phase != Phase::global))
                return where + "on the wrong side of the network";
            if (last != nullptr && std::tuple(last->source, last->target, last->sequence) >=
                                       std::tuple(m.source, m.target, m.sequence))
                return where + "out of order";
            if (m.sequence > 0 && (last == nullptr || last->source != m.source || last->target != m.target ||
                                   last->sequence != m.sequence - 1))
                return where + "a gap in the sequence";
            last = &m;
            const Item* before = nullptr;
            for (const Item& item : m.items) {
                if (before != nullptr && !(*before < item)) return where + "items out of order";
                before = &item;
                const Held at_source = held(m.source, item);
                const Held at_target = held(m.target, item);
                const bool owns = item.owner == m.source;
                if (phase.phase == Phase::local || phase.phase == Phase::local_s) {
                    if (!owns) return where + "not the owner's";
                } else if (!owns && !at_start.contains(at_source) && !gathered.contains(at_source)) {
                    return where + "sent before it came";
                }
                passing.erase(at_source);
                if (phase.phase == Phase::local_s) {
                    if (!to_senders.insert(at_target).second) return where + "gathered twice";
                    passing.insert(at_target);
                    continue;
                }
                if (item.owner == m.target) return where + "to its owner";
                if (node(m.source) != node(m.target) && once && ++crossed[held(node(m.target), item)] > 1)
                    return where + "crossed twice";
                if (++delivered[at_target] > 1) return where + "delivered twice";
                if (phase.phase != Phase::local) in_stages.insert(at_target);
                if (needed.contains(at_target)) continue;
                if (phase.phase == Phase::local) return where + "not needed";
                passing.insert(at_target);
            }
        }
        return "";
    };
    std::string wrong;
    plan.for_each_phase([&](const PhaseMessages& phase) {
        if (wrong.empty()) wrong = carry(phase);
    });
    if (!wrong.empty()) return wrong;
    if (!passing.empty())
        return "rank " + std::to_string(passing.begin()->first) + " got what it does not need";
    for (const Held& need : needed)
        if (!delivered.contains(need)) return "rank " + std::to_string(need.first) + " misses an item";
    return "";
}

}  // namespace keel::test
