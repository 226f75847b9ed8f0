#include "comm/costs/plan_time.hpp"

#include <algorithm>
#include <numeric>

namespace keel {

void Load::add(const Machine& machine, Memory memory, Locality locality, double bytes) {
    const Postal cost = machine.message(memory, locality, bytes);
    alpha += cost.alpha;
    (locality == Locality::off_node ? off_node : on_node) += cost.beta * bytes;
    if (locality == Locality::off_node) off_node_bytes += bytes;
}

Load& Load::operator+=(const Load& other) {
    alpha += other.alpha;
    on_node += other.on_node;
    off_node += other.off_node;
    off_node_bytes += other.off_node_bytes;
    return *this;
}

double slowest(const Machine& machine, std::span<const int> node_of, std::span<const Load> loads) {
    std::vector<double> node_bytes;  // to or from other nodes
    for (std::size_t rank = 0; rank < loads.size(); ++rank) {
        const auto node = static_cast<std::size_t>(node_of[rank]);
        node_bytes.resize(std::max(node_bytes.size(), node + 1));
        node_bytes[node] += loads[rank].off_node_bytes;
    }
    double most = 0;
    for (std::size_t rank = 0; rank < loads.size(); ++rank) {
        const double bytes = node_bytes[static_cast<std::size_t>(node_of[rank])];
        const double floor = bytes > 0 ? bytes * machine.injection() : 0.0;
        const Load& load = loads[rank];
        most = std::max(most, load.alpha + load.on_node + std::max(load.off_node, floor));
    }
    return most;
}

double phase_time(const Machine& machine, Memory memory, const RankPlaces& ranks,
                  std::span<const Envelope> messages) {
    std::vector<Load> sent(ranks.node_of.size());
    std::vector<Load> received(ranks.node_of.size());
    for (const Envelope& message : messages) {
        const Locality locality = ranks.locality(message.source, message.target);
        sent[static_cast<std::size_t>(message.source)].add(machine, memory, locality, message.bytes);
        received[static_cast<std::size_t>(message.target)].add(machine, memory, locality, message.bytes);
    }
    return std::max(slowest(machine, ranks.node_of, sent), slowest(machine, ranks.node_of, received));
}

double PlanTime::between_nodes() const {
    return std::accumulate(stages.begin(), stages.end(), 0.0);
}

double PlanTime::total() const {
    return first + (stages.empty() ? 0.0 : between_nodes() - stages.front());
}

PlanTime plan_time(const Machine& machine, Memory memory, const RankPlaces& ranks, const Plan& plan,
                   std::size_t columns) {
    const auto envelopes = [&](std::span<const Message> messages) {
        std::vector<Envelope> list;
        for (const Message& m : messages)
            list.push_back({m.source, m.target, static_cast<double>(m.values() * columns * sizeof(double))});
        return list;
    };
    PlanTime time;
    for (const Stage& stage : plan.stages)
        time.stages.push_back(phase_time(machine, memory, ranks, envelopes(stage.messages)));
    std::vector<Envelope> messages = envelopes(plan.local.messages);
    time.local = phase_time(machine, memory, ranks, messages);
    if (!plan.stages.empty()) {
        const auto more = envelopes(plan.stages.front().messages);
        messages.insert(messages.end(), more.begin(), more.end());
    }
    time.first = phase_time(machine, memory, ranks, messages);
    return time;
}

}  // namespace keel
