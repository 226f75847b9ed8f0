#include "comm/costs/machine.hpp"

#include <algorithm>

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

double Compute::time(double calls, const Work& work) const {
    if (calls == 0) return 0;
    const bool cached = cache && work.bytes <= calls * cache->bytes;
    const double of_flops = flop_rate ? work.flops / *flop_rate : 0.0;
    return std::max({work.bytes / (cached ? cache->rate : rate), of_flops, calls * launch});
}

double LaunchCosts::time(const DeviceCounts& counts) const {
    return static_cast<double>(counts.launches) * launch + static_cast<double>(counts.waits) * wait +
           static_cast<double>(counts.replays) * replay + static_cast<double>(counts.nodes) * node;
}

namespace {

// The ranks with which run.mode = network measures it; empty for managed memory, which it does not measure.
std::string ranks_to_measure(Memory memory, Locality locality) {
    if (memory == Memory::managed) return "";
    if (memory == Memory::device) return "on GPUs, with an MPI that takes their memory";
    return locality == Locality::off_node ? "on two nodes or more" : "with two ranks or more on a node";
}

// "a, b, c"
std::string listed(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
    return text;
}

}  // namespace

MissingParameter::MissingParameter(const std::string& machine, const std::vector<std::string>& parameters,
                                   const std::string& measure)
    : std::runtime_error("machine " + machine + ": " + listed(parameters) +
                         (parameters.size() == 1 ? " is not known; add it" : " are not known; add them") +
                         " to the machine's file" +
                         (measure.empty()          ? ""
                          : parameters.size() == 1 ? ", or measure it with run.mode = network " + measure
                                                   : ", or measure them with run.mode = network " + measure)),
      parameters_(parameters),
      measure_(measure) {}

Postal Machine::message(Memory memory, Locality locality, double bytes) const {
    const auto& costs = messages[static_cast<std::size_t>(memory)];
    const Protocol protocol = costs ? costs->protocol(bytes) : Protocol::short_;
    if (costs)
        if (const std::optional<Postal>& cost = costs->at(locality, protocol)) return *cost;
    if (costs && locality == Locality::socket) return message(memory, Locality::node, bytes);
    const std::string place = keel::name(memory);
    const std::string parameter =
        costs ? place + "." + keel::name(locality) + "." + keel::name(protocol) : "[" + place + "]";
    throw MissingParameter(name, {parameter}, ranks_to_measure(memory, locality));
}

const std::optional<Carriage>& Machine::transport(Carrier carrier, Locality locality) const {
    const auto& known = transports[static_cast<std::size_t>(carrier)];
    const auto& there = known[static_cast<std::size_t>(locality)];
    const bool as_in_node = !there && locality == Locality::socket;
    return as_in_node ? known[static_cast<std::size_t>(Locality::node)] : there;
}

Postal Machine::carried(Carrier carrier, Locality locality, Postal by_isend) const {
    const auto& own = transport(carrier, locality);
    const auto& isend = transport(Carrier::isend, locality);
    if (!own || !isend) return by_isend;
    const double busy = own->overhead - isend->overhead;
    by_isend.alpha = std::max(0.0, by_isend.alpha + busy + own->latency - isend->latency);
    if (by_isend.overhead) by_isend.overhead = std::clamp(*by_isend.overhead + busy, 0.0, by_isend.alpha);
    return by_isend;
}

double Machine::injection() const {
    if (!injection_beta)
        throw MissingParameter(name, {"machine.injection"},
                               ranks_to_measure(Memory::host, Locality::off_node));
    return *injection_beta;
}

}  // namespace keel
