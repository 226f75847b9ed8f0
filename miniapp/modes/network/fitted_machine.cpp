// The machine that the times of messages, copies and all-reduces make.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "comm/costs/collective_time.hpp"
#include "miniapp/modes/network/measurement.hpp"

namespace keel {
namespace {

// Fits the messages of one path as those of that memory, and returns where they switch protocols.
Switches fit_messages(NetworkResults& network, MessagePath path, Memory memory) {
    std::vector<std::vector<TimedMessage>> measured;
    for (const auto& one : network.classes)
        if (one.path == path && !one.samples.empty()) measured.push_back(one.samples);
    if (measured.empty()) return {};
    const Switches switches = find_switches(measured);
    auto& costs = network.machine.messages[static_cast<std::size_t>(memory)].emplace();
    costs.eager_from = switches.eager_from;
    costs.rendezvous_from = switches.rendezvous_from;

    std::vector<std::string> replaced;
    bool any = false;
    for (auto& one : network.classes) {
        if (one.path != path || one.samples.empty()) continue;
        one.fits = fit_protocols(one.locality, one.samples, switches);
        std::optional<double> overhead;
        // Costs beside those of isend, which comes first.
        for (const auto& [carrier, line] : one.transports) {
            if (carrier == Carrier::isend && line.beta > 0) overhead = line.beta;
            if (line.alpha > 0 && line.beta > 0 &&
                (carrier == Carrier::isend || network.machine.transport(Carrier::isend, one.locality)))
                network.machine.transports[static_cast<std::size_t>(carrier)]
                                          [static_cast<std::size_t>(one.locality)] = {line.beta, line.alpha};
            else
                network.remarks.push_back(
                    fmt::format("{}: no line of messages at once by {}", name(one.locality), name(carrier)));
        }
        if (!overhead && !one.transports.empty())
            network.remarks.push_back(fmt::format(
                "{}: no overhead, for several messages at once take no longer than one", name(one.locality)));
        for (Fit& fitted : one.fits) {
            if (fitted.accepted() && fitted.through != LineThrough::own_lengths)
                replaced.push_back(fmt::format("{} {} {} ({})", name(memory), name(one.locality),
                                               name(fitted.protocol), name(fitted.through)));
            if (!fitted.accepted()) continue;
            any = true;
            // More than alpha says no more than alpha does.
            if (overhead) fitted.cost.overhead = std::min(*overhead, fitted.cost.alpha);
            costs.at(one.locality, fitted.protocol) = fitted.cost;
        }
    }
    if (!any && memory == Memory::host)
        network.unfit =
            "the times make no line, even through the shortest and the longest message; give more "
            "run.repeats";
    else if (!replaced.empty())
        network.remarks.push_back(fmt::format(
            "no line through their own lengths, but through others: {}; more run.repeats or a quieter "
            "machine may help",
            fmt::join(replaced, ", ")));
    return switches;
}

// The concurrency of each fan, and that of the machine, by the shortest messages that identify it between
// nodes or, if no rank has two others there, in a node.
void fit_concurrencies(NetworkResults& network) {
    const auto& host = *network.machine.messages[static_cast<std::size_t>(Memory::host)];
    std::optional<Concurrency> shortest;
    for (auto& one : network.classes) {
        if (!one.fans.empty()) shortest.reset();
        for (FanResults& fan : one.fans) {
            const auto& cost = host.at(one.locality, host.protocol(fan.bytes));
            // Few bytes take nothing: beta of short messages alone is noise.
            const double bytes = fan.bytes > short_message ? fan.bytes : 0;
            if (cost) fan.concurrency = fit_concurrency(fan.rounds, cost->beta * bytes);
            if (!shortest && fan.concurrency && fan.concurrency->identifiable()) shortest = fan.concurrency;
        }
    }
    if (shortest) network.machine.concurrency = std::clamp(shortest->median, 0.0, 1.0);
    network.remarks.push_back(
        shortest
            ? fmt::format("concurrency: {:.2f}, {:.2f} to {:.2f} in {} rounds", shortest->median,
                          shortest->least, shortest->most, fan_rounds)
            : "concurrency: not identifiable; latencies overlap where an overhead is known, else add up");
}

void fit_copies(NetworkResults& network) {
    for (CopyResults& one : network.copies) {
        for (const auto* samples : {&one.to_device, &one.to_host})
            one.fits.push_back(fit_protocols({}, *samples, {}).front());
        if (std::ranges::all_of(one.fits, &Fit::accepted))
            network.machine.copies.push_back({one.processes, one.fits[0].cost, one.fits[1].cost});
        else
            network.remarks.push_back(
                fmt::format("copies by {} ranks of a device make no line", one.processes));
    }
}

// Fills in costs that the ranks at hand do not show, and says from where they are taken.
void fill_gaps(NetworkResults& network) {
    auto& host = *network.machine.messages[static_cast<std::size_t>(Memory::host)];
    const auto missing = [&](Locality locality) { return !host.at(locality, Protocol::rendezvous); };
    const auto repeat = [&](Locality to, Locality from, const char* why) {
        if (!missing(to) || missing(from)) return;
        host.costs[static_cast<std::size_t>(to)] = host.costs[static_cast<std::size_t>(from)];
        for (auto& known : network.machine.transports)
            known[static_cast<std::size_t>(to)] = known[static_cast<std::size_t>(from)];
        const bool tried = !network.classes[static_cast<std::size_t>(to)].pairs.empty();
        network.remarks.push_back(
            tried ? fmt::format("{} repeats {}", name(to), name(from))
                  : fmt::format("{}: {} was not measured, and repeats {}", why, name(to), name(from)));
    };
    repeat(Locality::node, Locality::socket, "no two ranks of a node are on different sockets");
    repeat(Locality::socket, Locality::node, "no two ranks are known to be on one socket (are they bound?)");
    if (network.classes[static_cast<std::size_t>(Locality::off_node)].pairs.empty())
        network.remarks.push_back(
            "a single node: off_node and the injection rate were not measured; use more nodes, or "
            "comm.ranks_per_node for pretend ones");
    else if (missing(Locality::off_node))
        network.remarks.push_back("off_node has no line: nothing between nodes is predicted with this file");
    else if (!network.machine.injection_beta) {
        network.machine.injection_beta = host.at(Locality::off_node, Protocol::rendezvous)->beta;
        network.remarks.push_back(
            "no injection rate: no message of many ranks of a node was long enough, and the rate of one rank "
            "stands in its place");
    } else if (network.node_pong.back().processes < 4)
        network.remarks.push_back(fmt::format(
            "at most {} ranks on each of two nodes: the injection rate is what they reach, perhaps not "
            "what the node can",
            network.node_pong.back().processes));
}

// The delays of all-reduces of one word beyond their messages, by the rounds of the algorithm that was timed
// or that MPI is taken to have.
void fit_all_reduce(const Resolved& resolved, NetworkResults& network) {
    try {
        network.all_reduce_by_messages =
            all_reduce_time(network.machine, resolved.topology, 1, resolved.comm.all_reduce.algorithm);
    } catch (const MissingParameter& missing) {
        network.remarks.push_back(
            fmt::format("no delay of all-reduces: {} is not known", fmt::join(missing.parameters(), ", ")));
        return;
    }
    const auto delay = [&](double seconds) {
        return std::max(0.0, seconds - *network.all_reduce_by_messages);
    };
    const TimedAllReduce& one_word = network.all_reduce.front();
    network.machine.noise.all_reduce = delay(one_word.seconds);
    if (one_word.nonblocking_seconds)
        network.machine.noise.nonblocking_all_reduce = delay(*one_word.nonblocking_seconds);
}

}  // namespace

void fit_machine(NetworkResults& network, const Resolved& resolved) {
    network.switches = fit_messages(network, MessagePath::host, Memory::host);
    fit_messages(network, MessagePath::device, Memory::device);
    fit_copies(network);
    fit_concurrencies(network);
    network.machine.injection_beta =
        fit_injection(network.node_pong, *network.machine.messages[static_cast<std::size_t>(Memory::host)]);
    if (!network.unfit.empty()) {
        network.remarks.push_back(network.unfit);
        return;
    }
    fill_gaps(network);
    fit_all_reduce(resolved, network);
}

}  // namespace keel
