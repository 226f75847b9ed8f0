#pragma once

// The time of a plan the plain way, message by message, also with known sockets: what the program's sums of
// loads have to agree with.

#include <algorithm>
#include <span>
#include <vector>

#include "comm/costs/plan_time.hpp"
#include "comm/plans/plan.hpp"

namespace keel::test {

struct SizedMessage {
    int source = 0;
    int target = 0;
    double bytes = 0;
};

inline double phase_time(const Machine& machine, Memory memory, const RankPlaces& ranks,
                         std::span<const SizedMessage> messages) {
    std::vector<Load> sent(ranks.node_of.size());
    std::vector<Load> received(ranks.node_of.size());
    for (const SizedMessage& message : messages) {
        const Locality locality = ranks.locality(message.source, message.target);
        sent[static_cast<std::size_t>(message.source)].add(machine, memory, locality, message.bytes);
        received[static_cast<std::size_t>(message.target)].add(machine, memory, locality, message.bytes);
    }
    return std::max(slowest(machine, ranks.node_of, sent), slowest(machine, ranks.node_of, received));
}

inline PlanTime plan_time(const Machine& machine, Memory memory, const RankPlaces& ranks, const Plan& plan,
                          std::size_t columns) {
    const auto sized = [&](std::span<const Message> messages) {
        std::vector<SizedMessage> list;
        for (const Message& m : messages)
            list.push_back({m.source, m.target, static_cast<double>(m.values() * columns * sizeof(double))});
        return list;
    };
    PlanTime time;
    for (std::size_t n = 0; n < plan.phases.size(); ++n)
        time.stages.at(n) = phase_time(machine, memory, ranks, sized(plan.phases[n].messages));
    std::vector<SizedMessage> messages = sized(plan.local.messages);
    time.local = phase_time(machine, memory, ranks, messages);
    if (!plan.phases.empty()) {
        const auto more = sized(plan.phases.front().messages);
        messages.insert(messages.end(), more.begin(), more.end());
    }
    time.first = phase_time(machine, memory, ranks, messages);
    return time;
}

}  // namespace keel::test
