#include "comm/costs/boundary_exchange.hpp"

#include <algorithm>

#include "kernels/check.hpp"

namespace keel {
namespace {

// n over k.
int binomial(int n, int k) {
    int result = 1;
    for (int i = 1; i <= k; ++i) result = result * (n - k + i) / i;
    return result;
}

}  // namespace

int scalar_fields(const Discretisation& d) {
    return (d.dimensions + 1) * (d.dimensions + 2 + d.species) + d.dimensions;
}

int points_of_element(const Discretisation& d) {
    return binomial(d.dimensions + d.order, d.order);
}

int points_of_boundary_element(const Discretisation& d) {
    return binomial(d.dimensions - 1 + d.order, d.order);
}

BoundaryMessages boundary_messages(const Discretisation& d, double boundary_elements, double scalar_bytes) {
    const double scalar = boundary_elements * points_of_boundary_element(d) * scalar_bytes;
    const double state = scalar * (d.dimensions + 2 + d.species);
    return {.state = state,
            .state_gradient = d.dimensions * state,
            .temperature_gradient = d.dimensions * scalar};
}

double BoundaryExchangeTime::total() const {
    return to_helpers + std::max(on_node, off_node) + from_helpers;
}

BoundaryExchangeTime boundary_exchange_time(const Machine& machine, const BoundaryExchange& exchange) {
    check(exchange.ranks_per_gpu >= 2, "a device's host rank needs a helper");
    const bool printed = exchange.bytes == BoundaryBytes::printed;
    const double s = exchange.message_bytes;
    const int helpers = exchange.ranks_per_gpu - 1;
    const int gpus = machine.known(&Machine::gpus_per_node);
    const int gpus_per_socket = machine.known(&Machine::gpus_per_socket);
    const int n = std::max(exchange.neighbours - (gpus - 1), 0);  // messages to other nodes
    const int helper_messages = (n + helpers - 1) / helpers;
    // Bytes that so many messages are charged with.
    const auto charged = [&](double messages) { return printed ? s : messages * s; };
    const auto sent = [&](const Postal& cost, double messages) {
        return cost.alpha * messages + cost.beta * charged(messages);
    };

    BoundaryExchangeTime time;
    time.messages_of_helper = helper_messages;
    time.sending_ranks = (printed ? helpers : std::min(n, helpers)) * gpus;
    const double to_or_from_helpers = sent(machine.message(Memory::host, Locality::socket, s), n);
    time.to_helpers = to_or_from_helpers;
    time.from_helpers = to_or_from_helpers;
    if (exchange.copies) {
        const CopyCosts& copy = machine.copy(1);
        time.to_helpers += copy.to_host.time(s * n);
        time.from_helpers += copy.to_device.time(s * n);
    }
    time.on_node = sent(machine.message(Memory::managed, Locality::socket, s), gpus_per_socket - 1) +
                   sent(machine.message(Memory::managed, Locality::node, s), gpus - gpus_per_socket);
    const Postal off_node = machine.message(Memory::host, Locality::off_node, s);
    const double node_bytes = printed ? time.sending_ranks * s : 1.0 * n * gpus * s;
    time.off_node = off_node.alpha * helper_messages +
                    std::max(node_bytes * machine.injection(), charged(helper_messages) * off_node.beta);
    return time;
}

}  // namespace keel
