#include "comm/costs/machine.hpp"

namespace keel {

Protocol MessageCosts::protocol(double bytes) const {
    if (bytes < static_cast<double>(eager_from)) return Protocol::short_;
    return bytes < static_cast<double>(rendezvous_from) ? Protocol::eager : Protocol::rendezvous;
}

std::optional<Postal>& MessageCosts::at(Locality locality, Protocol protocol) {
    return costs[static_cast<std::size_t>(locality)][static_cast<std::size_t>(protocol)];
}

const std::optional<Postal>& MessageCosts::at(Locality locality, Protocol protocol) const {
    return costs[static_cast<std::size_t>(locality)][static_cast<std::size_t>(protocol)];
}

MissingParameter::MissingParameter(const std::string& machine, const std::string& parameter)
    : std::runtime_error(
          "machine " + machine + ": " + parameter +
          " is not known; add it to the machine's file, or measure it with run.mode = network") {}

Postal Machine::message(Memory memory, Locality locality, double bytes) const {
    const auto& costs = messages[static_cast<std::size_t>(memory)];
    if (!costs) throw MissingParameter(name, std::string("[") + keel::name(memory) + "]");
    const Protocol protocol = costs->protocol(bytes);
    const std::optional<Postal>& cost = costs->at(locality, protocol);
    if (!cost)
        throw MissingParameter(
            name, std::string(keel::name(memory)) + "." + keel::name(locality) + "." + keel::name(protocol));
    return *cost;
}

double Machine::injection() const {
    if (!injection_beta) throw MissingParameter(name, "machine.injection");
    return *injection_beta;
}

}  // namespace keel
