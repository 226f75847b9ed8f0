#include "miniapp/setup/resolved.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "comm/costs/comparison.hpp"
#include "comm/ranks/windows.hpp"
#include "miniapp/files/lists.hpp"
#include "miniapp/files/machine_file.hpp"
#include "miniapp/setup/machine/devices.hpp"
#include "miniapp/setup/machine/machine_facts.hpp"

namespace keel {
namespace {

// Without sockets but those of a map.
Topology used_nodes(const CommOptions& options, const NamedFiles& files, int ranks,
                    const Topology& detected) {
    if (!files.node_map)
        return options.ranks_per_node > 0 ? virtual_topology(ranks, options.ranks_per_node) : detected;
    const NodeMap map = parse_node_map(*files.node_map, ranks);
    const Topology nodes(map.labels, NodeSource::map);
    return map.sockets.empty() ? nodes : nodes.on_sockets(map.sockets, SocketSource::map);
}

// With the sockets that are known: of detected nodes those that the processes are bound to, by rank.
Topology with_sockets(const Topology& nodes, const CommOptions& options, const Machine* machine,
                      const std::vector<int>& processes) {
    if (nodes.knows_sockets()) return nodes;
    if (options.ranks_per_socket > 0)
        return nodes.on_sockets_of(options.ranks_per_socket, SocketSource::slices);
    if (nodes.source() == NodeSource::detected) {
        const bool all_bound = std::ranges::all_of(processes, [](int socket) { return socket >= 0; });
        return all_bound ? nodes.on_sockets(processes, SocketSource::detected) : nodes;
    }
    return machine && machine->ranks_per_socket
               ? nodes.on_sockets_of(*machine->ranks_per_socket, SocketSource::machine)
               : nodes;
}

// Whether messages within a socket are taken as within a node because the machine's file has only these.
bool sockets_unpriced(const Topology& topology, const Model& model) {
    const auto& costs = model.machine.messages[static_cast<std::size_t>(model.memory)];
    if (!topology.shares_sockets() || !costs) return false;
    const auto& within = costs->costs[static_cast<std::size_t>(Locality::socket)];
    return std::ranges::none_of(within, [](const auto& cost) { return cost.has_value(); });
}

// Whether messages are taken as those by isend because the machine's file has no others.
bool transport_unpriced(const Machine& machine, Carrier carrier) {
    const auto known = [&](Locality locality) { return machine.transport(carrier, locality).has_value(); };
    return carrier != Carrier::isend && std::ranges::none_of(values_of<Locality>(), known);
}

// The limit of the host's messages where nothing is known of a device's.
std::size_t rendezvous_from(const Model& model) {
    const auto& all = model.machine.messages;
    const auto& own = all[static_cast<std::size_t>(model.memory)];
    return (own ? own : all[static_cast<std::size_t>(Memory::host)])->rendezvous_from;
}

// "comm.allreduce = auto, by hopper: ...": the algorithm by the number of words.
std::string chosen_text(const AlgorithmByWords& by_words, const Machine& machine) {
    std::string text = "comm.allreduce = auto, by " + machine.name + ": ";
    std::optional<AllReduceAlgorithm> last;
    for (std::size_t words = 1; words <= 4096; words *= 2) {
        const AllReduceAlgorithm chosen = by_words(words);
        if (last == chosen) continue;
        text += fmt::format("{}{}{}", last ? ", " : "", name(chosen),
                            last ? fmt::format(" from {} words on", words) : "");
        last = chosen;
    }
    return text;
}

Communication communication_of(const Parameters& p, bool direct) {
    const std::optional<Carrier> carrier = named<Carrier>(p.comm.transport);
    const SchemeOptions options{.message_cap = static_cast<std::size_t>(p.comm.message_cap),
                                .columns = static_cast<std::size_t>(p.problem.columns),
                                .carrier = carrier.value_or(Carrier::isend)};
    std::vector<Carrier> transports;
    if (!carrier) transports = values_of<Carrier>();
    std::erase_if(transports, [&](Carrier one) { return !why_not_carried_by(one, direct).empty(); });
    const std::optional<SchemeOptions> given = candidate_named(p.comm.scheme, options);
    return {.chooser = given ? SchemeChooser::deck : *named<SchemeChooser>(p.comm.scheme),
            .scheme = given ? *given : options,
            .transports = transports,
            .exchange = {.wire = direct ? Wire::direct : Wire::staged, .overlap = p.comm.overlap},
            .all_reduce = {p.comm.allreduce}};
}

// Each all-reduce by the algorithm of least predicted time on the machine.
void choose_all_reduces(Resolved& resolved) {
    const Model on_host{resolved.machine->machine, Memory::host};
    require_known(on_host, resolved.topology);
    resolved.comm.all_reduce.by_words = [=, topology = resolved.topology](std::size_t words) {
        return fastest_all_reduce(on_host.machine, topology, words);
    };
    resolved.remarks.push_back(chosen_text(resolved.comm.all_reduce.by_words, on_host.machine));
}

}  // namespace

std::string why_not_carried_by(Carrier carrier, bool direct) {
    if (simulated() && carrier != Carrier::isend && carrier != Carrier::persistent)
        return "time is simulated here, by messages alone; choose isend or persistent";
    if (carrier == Carrier::partitioned && !has_partitioned_messages())
        return fmt::format("{} has no partitioned messages (MPI 4); choose persistent", Session::library());
    if (direct && in_windows(carrier))
        return "messages lie in memory of the host; give comm.device = \"staged\", or choose another "
               "transport";
    return "";
}

Resolved resolve(const Deck& deck, const NamedFiles& files, const Communicator& comm) {
    const Parameters& p = deck.parameters;
    const bool windows = in_windows(named<Carrier>(p.comm.transport).value_or(Carrier::isend));
    // The MPI of virtual ranks takes it if the deck says so.
    const bool takes_device_memory = Session::takes_device_memory(p.run.backend) ||
                                     (p.problem.ranks > 0 && p.comm.device == DeviceMessages::device_aware);
    const bool direct = p.comm.device != DeviceMessages::staged && !windows && takes_device_memory;
    Resolved resolved{.ranks = p.problem.ranks > 0 ? p.problem.ranks : comm.size(),
                      .started = comm.size(),
                      .rank = comm.rank(),
                      .topology = {},
                      .detected = detect_topology(comm),
                      .machine = {},
                      .one_word = {},
                      .simulation = {},
                      .comm = communication_of(p, direct),
                      .backend = p.run.backend,
                      .gpu_sync = p.run.gpu_sync,
                      .deterministic = p.run.deterministic,
                      .warmup = p.run.warmup,
                      .repeats = p.run.repeats,
                      .triad_bytes = 1e6 * p.run.triad_mb,
                      .dry_run_limit = p.run.dry_run_limit,
                      .details = p.output.details,
                      .remarks = {},
                      .warnings = {}};
    if (files.machine)
        resolved.machine =
            Model{parse_machine(*files.machine).machine, direct ? Memory::device : Memory::host};
    std::erase_if(resolved.comm.transports,
                  [&](Carrier one) { return one == Carrier::put && !makes_windows(comm); });
    if (p.comm.all_reduce_us > 0) resolved.one_word = 1e-6 * p.comm.all_reduce_us;
    resolved.topology =
        with_sockets(used_nodes(p.comm, files, resolved.ranks, resolved.detected), p.comm,
                     resolved.machine ? &resolved.machine->machine : nullptr, sockets_of_processes(comm));
    if (resolved.machine && sockets_unpriced(resolved.topology, *resolved.machine))
        resolved.remarks.push_back("machine " + resolved.machine->machine.name +
                                   " has no messages within a socket: they are taken as within a node");
    if (resolved.machine && transport_unpriced(resolved.machine->machine, resolved.comm.scheme.carrier))
        resolved.remarks.push_back(fmt::format("machine {} has no transports.{}: predicted as isend",
                                               resolved.machine->machine.name, p.comm.transport));
    if (p.comm.message_cap == 0) resolved.comm.scheme.message_cap = rendezvous_from(*resolved.machine);
    if (p.comm.allreduce == AllReduceAlgorithm::automatic) choose_all_reduces(resolved);
    if (resolved.machine) resolved.simulation = simulation_on(resolved.machine->machine);
    if (resolved.gpu_sync == GpuSync::per_operation && backend_info(resolved.backend).features.graphs)
        resolved.remarks.push_back(
            "the host waits for each operation of the GPU, so that its time is its own; "
            "run.gpu_sync = graphs takes less time");
    return resolved;
}

std::unique_ptr<Backend> make_backend(const Resolved& resolved, const Communicator& comm) {
    const int device = device_of_rank(resolved.backend, resolved.detected, comm);
    return make_backend(resolved.backend, {.device = device, .sync = resolved.gpu_sync});
}

double bandwidth(const Resolved& resolved, const Communicator& comm, const Backend& backend) {
    if (resolved.simulation) return comm.size() * resolved.simulation->compute.rate;
    return measure_triad(comm, resolved.topology, backend, resolved.triad_bytes);
}

}  // namespace keel
