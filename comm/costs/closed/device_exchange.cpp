#include "comm/costs/closed/device_exchange.hpp"

#include <algorithm>

#include "kernels/check.hpp"

namespace keel {
namespace {

int known(const Machine& machine, std::optional<int> Machine::*number, const char* parameter) {
    if (!(machine.*number)) throw MissingParameter(machine.name, {parameter}, "");
    return *(machine.*number);
}
int devices(const Machine& machine) {
    return known(machine, &Machine::gpus_per_node, "machine.gpus_per_node");
}

// By one process a device.
const CopyCosts& copy(const Machine& machine) {
    const auto found = std::ranges::find(machine.copies, 1, &CopyCosts::processes);
    if (found == machine.copies.end())
        throw MissingParameter(machine.name, {"[[copy]] with processes = 1"}, "");
    return *found;
}

int messages_off_node(const Machine& machine, const DeviceExchange& exchange) {
    return std::max(exchange.neighbours - (devices(machine) - 1), 0);
}

double sent(const Postal& cost, int messages, const DeviceExchange& exchange) {
    const int charged = exchange.charged == ChargedBytes::printed ? 1 : messages;
    return cost.alpha * messages + cost.beta * charged * exchange.message_bytes;
}

}  // namespace

double device_time_on_node(const Machine& machine, const DeviceExchange& exchange) {
    const int on_socket = known(machine, &Machine::gpus_per_socket, "machine.gpus_per_socket");
    const auto at = [&](Locality locality) {
        return machine.message(Memory::managed, locality, exchange.message_bytes);
    };
    return sent(at(Locality::socket), on_socket - 1, exchange) +
           sent(at(Locality::node), devices(machine) - on_socket, exchange);
}

double SharedExchangeTime::total() const {
    return to_helpers + std::max(on_node, off_node) + from_helpers;
}

SharedExchangeTime shared_exchange_time(const Machine& machine, const DeviceExchange& exchange) {
    check(exchange.ranks_per_device >= 2, "a device's rank needs a helper");
    const bool printed = exchange.charged == ChargedBytes::printed;
    const double s = exchange.message_bytes;
    const int helpers = exchange.ranks_per_device - 1;
    const int n = messages_off_node(machine, exchange);

    SharedExchangeTime time;
    time.messages_of_helper = (n + helpers - 1) / helpers;
    time.sending_ranks = (printed ? helpers : std::min(n, helpers)) * devices(machine);
    time.to_helpers = sent(machine.message(Memory::host, Locality::socket, s), n, exchange);
    time.from_helpers = time.to_helpers;
    if (exchange.copies) {
        time.to_helpers += copy(machine).to_host.time(s * n);
        time.from_helpers += copy(machine).to_device.time(s * n);
    }
    time.on_node = device_time_on_node(machine, exchange);
    const Postal off_node = machine.message(Memory::host, Locality::off_node, s);
    const double node_bytes = (printed ? time.sending_ranks : n * devices(machine)) * s;
    const double helper_bytes = (printed ? 1 : time.messages_of_helper) * s;
    time.off_node = off_node.alpha * time.messages_of_helper +
                    std::max(node_bytes * machine.injection(), helper_bytes * off_node.beta);
    return time;
}

double straight_exchange_time(const Machine& machine, const DeviceExchange& exchange) {
    const Postal off_node = machine.message(Memory::managed, Locality::off_node, exchange.message_bytes);
    return std::max(device_time_on_node(machine, exchange),
                    messages_off_node(machine, exchange) * off_node.time(exchange.message_bytes));
}

double staged_exchange_time(const Machine& machine, const DeviceExchange& exchange) {
    const int n = messages_off_node(machine, exchange);
    const double bytes = n * exchange.message_bytes;
    const Postal off_node = machine.message(Memory::host, Locality::off_node, exchange.message_bytes);
    const double network =
        off_node.alpha * n + std::max(devices(machine) * bytes * machine.injection(), bytes * off_node.beta);
    return copy(machine).to_host.time(bytes) + std::max(device_time_on_node(machine, exchange), network) +
           copy(machine).to_device.time(bytes);
}

std::optional<DeviceForms> device_forms(const PatternCounts& counts, double columns, const Machine& machine,
                                        int ranks_per_node) {
    if (counts.messages == 0 || machine.gpus_per_node != ranks_per_node || !machine.ranks_per_node) return {};
    DeviceExchange exchange{.message_bytes = columns * counts.bytes_to_neighbours / counts.neighbours,
                            .neighbours = static_cast<int>(counts.neighbours),
                            .ranks_per_device = *machine.ranks_per_node / ranks_per_node};
    if (exchange.ranks_per_device < 2) return {};
    try {
        DeviceForms forms{.neighbours = exchange.neighbours,
                          .message_bytes = exchange.message_bytes,
                          .helpers = exchange.ranks_per_device - 1,
                          .straight = straight_exchange_time(machine, exchange),
                          .staged = staged_exchange_time(machine, exchange),
                          .shared = shared_exchange_time(machine, exchange).total()};
        exchange.charged = ChargedBytes::printed;
        forms.shared_as_printed = shared_exchange_time(machine, exchange).total();
        return forms;
    } catch (const MissingParameter&) {
        return {};
    }
}

}  // namespace keel
