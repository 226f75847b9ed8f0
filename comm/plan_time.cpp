#include "comm/plan_time.hpp"

#include <algorithm>
#include <numeric>

namespace keel {
namespace {

// What one process sends, or receives.
struct Load {
    double alpha = 0;
    double on_node = 0;   // seconds by beta
    double off_node = 0;  // seconds by beta
};

}  // namespace

Locality Placements::locality(int a, int b) const {
    const auto i = static_cast<std::size_t>(a);
    const auto j = static_cast<std::size_t>(b);
    if (node_of[i] != node_of[j]) return Locality::off_node;
    return !socket_of.empty() && socket_of[i] == socket_of[j] ? Locality::socket : Locality::node;
}

double phase_time(const Machine& machine, Memory memory, const Placements& ranks,
                  std::span<const Envelope> messages) {
    double slowest = 0;
    for (int Envelope::*const end : {&Envelope::source, &Envelope::target}) {
        std::vector<Load> loads(ranks.node_of.size());
        std::vector<double> node_bytes;  // to or from other nodes
        for (const Envelope& message : messages) {
            const auto rank = static_cast<std::size_t>(message.*end);
            const Locality locality = ranks.locality(message.source, message.target);
            const Postal cost = machine.message(memory, locality, message.bytes);
            loads[rank].alpha += cost.alpha;
            if (locality != Locality::off_node) {
                loads[rank].on_node += cost.beta * message.bytes;
                continue;
            }
            loads[rank].off_node += cost.beta * message.bytes;
            const auto node = static_cast<std::size_t>(ranks.node_of[rank]);
            node_bytes.resize(std::max(node_bytes.size(), node + 1));
            node_bytes[node] += message.bytes;
        }
        for (std::size_t rank = 0; rank < loads.size(); ++rank) {
            const auto node = static_cast<std::size_t>(ranks.node_of[rank]);
            const double bytes = node < node_bytes.size() ? node_bytes[node] : 0.0;
            const double floor = bytes > 0 ? bytes * machine.injection() : 0.0;
            const Load& load = loads[rank];
            slowest = std::max(slowest, load.alpha + load.on_node + std::max(load.off_node, floor));
        }
    }
    return slowest;
}

double PlanTime::between_nodes() const {
    return std::accumulate(stages.begin(), stages.end(), 0.0);
}

double PlanTime::total() const {
    return local + between_nodes();
}

PlanTime plan_time(const Machine& machine, Memory memory, const Placements& ranks, const Plan& plan,
                   std::size_t columns) {
    const auto time_of = [&](const Stage& stage) {
        std::vector<Envelope> messages;
        for (const Message& m : stage.messages)
            messages.push_back(
                {m.source, m.target, static_cast<double>(m.values() * columns * sizeof(double))});
        return phase_time(machine, memory, ranks, messages);
    };
    PlanTime time{time_of(plan.local), {}};
    for (const Stage& stage : plan.stages) time.stages.push_back(time_of(stage));
    return time;
}

}  // namespace keel
