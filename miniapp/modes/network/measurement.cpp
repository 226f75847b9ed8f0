#include "miniapp/modes/network/measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>

#include "comm/ranks/windows.hpp"
#include "comm/reductions/all_reduce.hpp"
#include "kernels/timing/ledger.hpp"
#include "miniapp/modes/repeat.hpp"
#include "miniapp/setup/machine/machine_facts.hpp"

namespace keel {
namespace {

constexpr std::size_t most_pairs = 4;
constexpr int all_reduce_tag = 1;  // ping-pongs have 0
constexpr std::array fan_lengths{short_message, std::size_t{65536}};

// Short messages take less than a clock can tell: several round trips or all-reduces in a row.
int round_trips_of(std::size_t bytes) {
    return bytes <= 4096 ? 10 : 1;
}

class Stopwatch {
  public:
    Stopwatch(int repeats, AllReduceAlgorithm algorithm, const Communicator& comm, const Topology& topology,
              TimesTaken& times)
        : times_(times),
          comm_(comm.duplicate()),
          topology_(topology),
          repeats_(repeats),
          by_mpi_(algorithm == AllReduceAlgorithm::mpi),
          all_reduce_(make_all_reduce(algorithm, comm_, topology, all_reduce_tag)) {}

    bool makes_windows() const { return keel::makes_windows(comm_); }

    // Seconds one way, of the slowest pair.
    double ping_pong(const std::vector<Pair>& pairs, std::size_t bytes, std::span<const int> node_of = {},
                     DeviceBuffer* device = nullptr) const {
        PingPong pong(comm_, pairs, bytes, node_of, device);
        const int trips = round_trips_of(bytes);
        return fastest([&] {
            pong.round_trips(1);  // the two meet
            const double start = now();
            pong.round_trips(trips);
            return pong.takes_part() ? (now() - start) / (2 * trips) : 0.0;
        });
    }

    // Seconds of an exchange of these messages, of the slowest rank: the fastest of a share of the repeats.
    double burst(const std::vector<Pair>& messages, std::size_t bytes, int share = 1,
                 Carrier carrier = Carrier::isend) const {
        MessagesAtOnce at_once(comm_, topology_, messages, bytes, carrier);
        const int times = 2 * round_trips_of(bytes);
        const auto seconds = [&] {
            at_once.exchanges(1);
            const double start = now();
            at_once.exchanges(times);
            return at_once.takes_part() ? (now() - start) / times : 0.0;
        };
        return fastest(seconds, share);
    }

    TimedAllReduce all_reduce(std::size_t bytes) const {
        std::vector<double> words(bytes / sizeof(double));
        const auto in_flight = [&] {
            all_reduce_->start(words);
            all_reduce_->wait();
        };
        TimedAllReduce timed{.bytes = static_cast<double>(words.size() * sizeof(double))};
        if (by_mpi_) {
            timed.seconds = in_a_row(bytes, [&] { words = comm_.max(std::move(words)); });
            timed.nonblocking_seconds = in_a_row(bytes, in_flight);
        } else {
            timed.seconds = in_a_row(bytes, in_flight);
        }
        return timed;
    }

    // Seconds of an action, of the slowest rank; of short ones several in a row.
    template <class Action>
    double in_a_row(std::size_t bytes, const Action& action) const {
        const int times = round_trips_of(bytes);
        return fastest([&] {
            comm_.barrier();
            const double start = now();
            for (int n = 0; n < times; ++n) action();
            return (now() - start) / times;
        });
    }

  private:
    template <class Action>
    double fastest(const Action& seconds, int share = 1) const {
        seconds();  // connections are made, memory is touched
        double best = std::numeric_limits<double>::infinity();
        for (int n = 0; n < std::max(1, repeats_ / share); ++n) best = std::min(best, comm_.max(seconds()));
        ++times_.count;
        times_.least = std::min(times_.least, best);
        return best;
    }

    TimesTaken& times_;
    Communicator comm_;
    const Topology& topology_;
    int repeats_;
    bool by_mpi_;
    std::unique_ptr<AllReduce> all_reduce_;
};

// Powers of two from `smallest`, which is one, up to the largest, which is there as well.
std::vector<std::size_t> powers_of_two(std::size_t smallest, std::size_t largest) {
    std::vector<std::size_t> all;
    for (std::size_t bytes = smallest; bytes < largest; bytes *= 2) all.push_back(bytes);
    all.push_back(std::max(smallest, largest));
    return all;
}

// The most ranks that share a node and a socket; nothing if a socket is unknown.
std::optional<int> ranks_per_socket(const Topology& topology, const std::vector<int>& socket_of) {
    std::map<std::pair<int, int>, int> ranks;
    int most = 0;
    for (std::size_t rank = 0; rank < socket_of.size(); ++rank) {
        if (socket_of[rank] < 0) return {};
        most = std::max(most, ++ranks[{topology.node_of()[rank], socket_of[rank]}]);
    }
    return most;
}

// Times messages of all lengths at one distance, bursts of the shortest, and fans; whether it was not
// interrupted. Bursts, and messages within nodes, are sent by all pairs at once, as in an exchange: ranks
// share memory, and sometimes processors. Between nodes a pair is alone; what the nodes share, node-pongs
// show. From the memory of a device messages are whole words, and not sent in bursts.
bool measure_class(PingPongResults& one, const RankPlaces& ranks, const Stopwatch& stopwatch,
                   DeviceBuffer* device, const std::function<bool()>& interrupted) {
    std::vector<std::vector<Pair>> in_turns{one.pairs};
    if (one.locality == Locality::off_node) {
        in_turns.clear();
        for (const Pair& pair : few_of(one.pairs, most_pairs)) in_turns.push_back({pair});
    }
    for (const std::size_t bytes : powers_of_two(device ? sizeof(double) : 1, longest_message)) {
        if (interrupted()) return false;
        double best = std::numeric_limits<double>::infinity();
        for (const auto& pairs : in_turns)
            best = std::min(best, stopwatch.ping_pong(pairs, bytes, {}, device));
        one.samples.push_back({static_cast<double>(bytes), best});
    }
    if (device) return true;
    for (const Carrier carrier : values_of<Carrier>()) {
        if (!why_not_carried_by(carrier, false).empty()) continue;
        if (carrier == Carrier::put && !stopwatch.makes_windows()) continue;
        if (interrupted()) return false;
        std::vector<TimedMessage> samples;  // by messages in place of bytes
        for (const int messages : {1, 2, 4, 8})
            samples.push_back({static_cast<double>(messages),
                               stopwatch.burst(messages_among(one.pairs, ranks, one.locality, messages),
                                               short_message, 1, carrier)});
        one.transports.emplace_back(carrier, fit_postal(samples).cost);
    }
    const std::vector<Pair> fan = fan_at(ranks, one.locality);
    if (fan.size() < 2) return true;
    for (const std::size_t bytes : fan_lengths) {
        FanResults timed{static_cast<double>(bytes), {}};
        for (int round = 0; round < fan_rounds; ++round) {
            if (interrupted()) return false;
            timed.rounds.emplace_back();
            for (std::size_t messages = 1; messages <= fan.size(); messages *= 2) {
                std::vector<Pair> both_ways;
                for (const Pair& pair : std::span(fan).first(messages))
                    both_ways.insert(both_ways.end(), {pair, {pair.second, pair.first}});
                timed.rounds.back().push_back(
                    {static_cast<int>(messages), stopwatch.burst(both_ways, bytes, fan_rounds)});
            }
        }
        one.fans.push_back(std::move(timed));
    }
    return true;
}

// Times copies between pinned host memory and the device by 1, 2, 4, ... ranks of each device, all devices at
// once; whether it was not interrupted.
bool measure_copies(NetworkResults& network, const Resolved& resolved, const Stopwatch& stopwatch,
                    const RunContext& context, const std::function<bool()>& interrupted) {
    const Communicator& comm = context.comm;
    std::vector<double> before;
    for (const int ranks : ranks_before_on_device(comm.gather(context.backend.device()), resolved.detected))
        before.push_back(ranks);
    const auto mine = static_cast<std::size_t>(
        comm.scatter(before, std::vector(static_cast<std::size_t>(comm.size()), 1)).front());
    const auto most = static_cast<std::size_t>(comm.max(static_cast<double>(mine))) + 1;
    DeviceBuffer buffer(context.backend, longest_message, Wire::staged);
    for (const std::size_t processes : powers_of_two(1, most)) {
        context.progress.say(fmt::format("copies: {} of each device", processes));
        auto& one = network.copies.emplace_back();
        one.processes = static_cast<int>(processes);
        for (const std::size_t bytes : powers_of_two(sizeof(double), longest_message)) {
            if (interrupted()) return false;
            const auto timed = [&](void (DeviceBuffer::*copy)(std::size_t)) {
                return TimedMessage{static_cast<double>(bytes), stopwatch.in_a_row(bytes, [&] {
                                        if (mine < processes) (buffer.*copy)(bytes);
                                    })};
            };
            one.to_device.push_back(timed(&DeviceBuffer::to_device));
            one.to_host.push_back(timed(&DeviceBuffer::to_host));
        }
    }
    return true;
}

// Times what 1, 2, 4, ... ranks of each node send to another, all nodes at once; whether it was not
// interrupted.
bool measure_nodes(NetworkResults& network, const Topology& topology, const Stopwatch& stopwatch,
                   const RunContext& context, const std::function<bool()>& interrupted) {
    const RankPlaces ranks{topology.node_of(), {}};
    const auto all = pairs_of_nodes(ranks, ranks.node_of.size());
    if (all.empty()) return true;
    const auto node = [&](const Pair& pair) { return ranks.node_of[static_cast<std::size_t>(pair.first)]; };
    const auto most = std::ranges::count(all, node(all.front()), node);
    for (const std::size_t processes : powers_of_two(1, static_cast<std::size_t>(most))) {
        context.progress.say(fmt::format("node-pong: {} of each node", processes));
        const auto pairs = pairs_of_nodes(ranks, processes);
        for (const std::size_t bytes : powers_of_two(1, longest_message)) {
            if (interrupted()) return false;
            if (const std::size_t share = bytes / processes; share > 0)
                network.node_pong.push_back({static_cast<int>(processes),
                                             static_cast<double>(share * processes),
                                             stopwatch.ping_pong(pairs, share, ranks.node_of)});
        }
    }
    return true;
}

}  // namespace

std::vector<PingPongResults> network_classes(const Communicator& comm, const Topology& topology) {
    const std::vector<int> socket_of = sockets_of_processes(comm);
    const RankPlaces ranks{topology.node_of(), socket_of};
    std::vector<PingPongResults> classes;
    for (const Locality locality : values_of<Locality>())
        classes.push_back({locality, pairs_at(ranks, locality), {}, {}});
    return classes;
}

NetworkResults measure_network(const NetworkOptions& options, const Resolved& resolved,
                               const RunContext& context) {
    const Communicator& comm = context.comm;
    const Topology& topology = resolved.topology;
    NetworkResults network;
    const Stopwatch stopwatch(resolved.repeats, resolved.comm.all_reduce.algorithm, comm, topology,
                              network.times);
    network.machine.name =
        options.write.empty() ? "measured" : std::filesystem::path(options.write).stem().string();
    network.machine.ranks_per_node = most_ranks_per_node(topology);
    const std::vector<int> socket_of = sockets_of_processes(comm);
    network.machine.ranks_per_socket = ranks_per_socket(topology, socket_of);
    const auto interrupted = [&] {
        network.interruption = context.ending.asked(comm);
        return network.interruption != Interruption::none;
    };
    const auto measure_path = [&](MessagePath path, DeviceBuffer* device) {
        for (auto& one : network_classes(comm, topology)) network.classes.push_back(std::move(one));
        for (auto& one : std::span(network.classes).last(names_of(Locality{}).size())) {
            one.path = path;
            if (one.pairs.empty()) continue;
            context.progress.say(fmt::format("ping-pong: {}, {}", name(one.locality), name(path)));
            if (!measure_class(one, {topology.node_of(), socket_of}, stopwatch, device, interrupted))
                return false;
        }
        return true;
    };
    if (!measure_path(MessagePath::host, nullptr)) return network;
    if (backend_info(resolved.backend).features.device_memory) {
        if (!measure_copies(network, resolved, stopwatch, context, interrupted)) return network;
        DeviceBuffer staged(context.backend, longest_message, Wire::staged);
        if (!measure_path(MessagePath::staged, &staged)) return network;
        if (resolved.comm.exchange.wire == Wire::direct) {
            DeviceBuffer direct(context.backend, longest_message, Wire::direct);
            if (!measure_path(MessagePath::device, &direct)) return network;
        }
    }
    if (!measure_nodes(network, topology, stopwatch, context, interrupted)) return network;
    context.progress.say("triad");
    network.machine.compute = resolved.simulation
                                  ? resolved.simulation->compute
                                  : Compute{.rate = bandwidth(resolved, comm, context.backend) / comm.size(),
                                            .launch = measure_launch(comm, context.backend)};
    context.progress.say("all-reduce");
    for (const std::size_t bytes : powers_of_two(sizeof(double), longest_message)) {
        if (interrupted()) return network;
        network.all_reduce.push_back(stopwatch.all_reduce(bytes));
    }
    fit_machine(network, resolved);
    return network;
}

}  // namespace keel
