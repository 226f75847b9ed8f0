#include "comm/costs/plan_time.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace keel {

void Load::add(const Machine& machine, Memory memory, Locality locality, double bytes, Carrier carrier) {
    Postal cost = machine.message(memory, locality, bytes);
    if (memory == Memory::host) cost = machine.carried(carrier, locality, cost);
    const double shared = machine.concurrency.value_or(cost.overhead ? 1 : 0);
    const double busy = std::max(cost.overhead.value_or(0), (1 - shared) * cost.alpha);
    overhead += busy;
    latency = std::max(latency, cost.alpha - busy);
    (locality == Locality::off_node ? off_node : on_node) += cost.beta * bytes;
    if (locality == Locality::off_node) off_node_bytes += bytes;
}

Load& Load::operator+=(const Load& other) {
    overhead += other.overhead;
    latency = std::max(latency, other.latency);
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
        most = std::max(most, load.overhead + load.latency + load.on_node + std::max(load.off_node, floor));
    }
    return most;
}

double PlanTime::between_nodes() const {
    return std::accumulate(stages.begin(), stages.end(), 0.0);
}

double PlanTime::total() const {
    return first + (between_nodes() - stages.front());
}

}  // namespace keel
