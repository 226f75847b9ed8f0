#include "miniapp/setup/rules/run_rules.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "comm/ranks/communicator.hpp"
#include "kernels/backends/registry.hpp"
#include "miniapp/deck/text/text.hpp"
#include "miniapp/files/lists.hpp"
#include "miniapp/files/machine_file.hpp"
#include "miniapp/files/output_files.hpp"
#include "miniapp/setup/resolved.hpp"

namespace keel {
namespace {

// A deck that asks a backend for a feature that it has not.
void check_features(Rules& rules, const Parameters& p) {
    const std::string& name = p.run.backend;
    const auto want = [&](bool BackendFeatures::*feature, bool asked, const std::string& key) {
        std::vector<std::string> able;
        for (const BackendInfo& info : all_backends())
            if (info.features.*feature) able.push_back(info.name);
        rules.allow(!asked || backend_info(name).features.*feature, {key, "run.backend"},
                    fmt::format("the backend {} has no such thing; choose run.backend from {}, or leave the "
                                "key out",
                                name, fmt::join(able, ", ")));
    };
    want(&BackendFeatures::lazy, p.run.gpu_sync == GpuSync::lazy, "run.gpu_sync");
    want(&BackendFeatures::graphs, p.run.gpu_sync == GpuSync::graphs, "run.gpu_sync");
    want(&BackendFeatures::device_memory, p.comm.device != DeviceMessages::automatic, "comm.device");
}

// A simulated run needs a machine, and must not end by its clock.
void check_simulated(Rules& rules) {
    const Parameters& p = rules.parameters();
    rules.allow(!p.comm.machine.empty(), {"comm.machine"},
                "time is simulated here, and computing takes what a machine's file says; give one with "
                "[compute], such as hopper");
    // The run would end by a clock that stands still while the program computes, hours later or never.
    rules.allow(p.run.time_limit == 0, {"run.time_limit"},
                "time is simulated here, and repeats itself; leave it out");
}

// The ranks, their nodes and sockets.
void check_nodes(Rules& rules, const NamedFiles& files, int ranks, int started) {
    const CommOptions& comm = rules.parameters().comm;
    rules.allow(ranks == started || comm.ranks_per_node > 0 || !comm.node_map.empty(), {"problem.ranks"},
                fmt::format("the nodes of virtual ranks are not known (started are {}); give "
                            "comm.ranks_per_node or comm.node_map",
                            started));
    rules.allow(comm.ranks_per_node <= ranks, {"comm.ranks_per_node", "problem.ranks"},
                fmt::format("there {} only {}; choose at most that, or 0 to detect the nodes",
                            ranks == 1 ? "is" : "are", counted(ranks, "rank")));
    rules.allow(
        comm.ranks_per_node == 0 || comm.ranks_per_socket <= comm.ranks_per_node,
        {"comm.ranks_per_socket", "comm.ranks_per_node"},
        fmt::format("a node has only {}; choose at most that, or 0", counted(comm.ranks_per_node, "rank")));
    if (!files.node_map) return;
    const NodeMap map = parse_node_map(*files.node_map, ranks);
    rules.allow(map.error.empty(), {"comm.node_map"}, map.error);
    rules.allow(map.sockets.empty() || comm.ranks_per_socket == 0, {"comm.node_map", "comm.ranks_per_socket"},
                fmt::format("has sockets, and comm.ranks_per_socket = {}: give only one of the two",
                            comm.ranks_per_socket));
    rules.allow(comm.ranks_per_node == 0, {"comm.node_map", "comm.ranks_per_node"},
                fmt::format("has nodes, and comm.ranks_per_node = {}: give only one of the two",
                            comm.ranks_per_node));
}

// The machine, and what schemes want of it.
void check_machine(Rules& rules, const NamedFiles& files) {
    const Parameters& p = rules.parameters();
    const MachineFile read = files.machine ? parse_machine(*files.machine) : MachineFile{};
    rules.allow(p.comm.scheme != name(SchemeChooser::automatic) || !p.comm.machine.empty(), {"comm.scheme"},
                "no machine to predict times on; give comm.machine, or let comm.scheme = \"tuned\" try the "
                "schemes");
    rules.allow(p.comm.all_reduce_us == 0 || !p.comm.machine.empty(), {"comm.all_reduce_us", "comm.machine"},
                "replaces a time of comm.machine; give one, such as hopper");
    for (const std::string& error : read.errors) rules.allow(false, {"comm.machine"}, error);
    const bool has_switches = read.machine.messages[static_cast<std::size_t>(Memory::host)].has_value();
    rules.allow(p.comm.message_cap > 0 || has_switches, {"comm.message_cap", "comm.machine"},
                "from where on messages take a rendezvous is comm.machine's to say; give one with [host], "
                "such as lassen, or a number of bytes");
    const auto given = candidate_named(p.comm.scheme, {});
    rules.allow(
        !given || !planner(given->scheme).needs_helpers || p.run.mode == "spmv", {"comm.scheme", "run.mode"},
        "every rank has boxes, and none helps; choose run.mode = \"spmv\" with comm.ranks_per_device, "
        "or split");
    const bool plans_by_socket = p.comm.scheme == name(SchemeChooser::tuned) || p.run.mode == "exchange" ||
                                 (given && planner(given->scheme).split != nullptr);
    rules.allow(p.comm.ranks_per_socket == 0 || !p.comm.machine.empty() || plans_by_socket,
                {"comm.ranks_per_socket", "comm.machine", "comm.scheme"},
                "sockets count where times are predicted and three_step or split are planned; give "
                "comm.machine, choose one of these schemes or \"tuned\", or leave it out");
}

// Whether the records can be written, to no file that the run reads.
void check_records(Rules& rules, const NamedFiles& files) {
    const std::string& json = rules.parameters().output.json;
    if (json.empty()) return;
    const std::string reason = reason_not_writable(json);
    rules.allow(reason.empty(), {"output.json"}, reason);
    for (const std::string& input :
         {rules.deck().file, files.machine ? files.machine->name : "", files.boxes ? files.boxes->name : "",
          files.node_map ? files.node_map->name : "", rules.parameters().problem.rhs_file,
          rules.parameters().problem.data_file})
        rules.allow(input.empty() || !is_same_file(input, json), {"output.json"},
                    "is read by this run; choose another");
}

}  // namespace

void check_common(Rules& rules, const NamedFiles& files, int started) {
    const Parameters& p = rules.parameters();
    const int ranks = p.problem.ranks > 0 ? p.problem.ranks : started;
    check_nodes(rules, files, ranks, started);
    check_machine(rules, files);
    check_features(rules, p);
    check_records(rules, files);
}

std::vector<std::string> fit_virtual_ranks(Deck& deck, const NamedFiles& files, int started) {
    Parameters& p = deck.parameters;
    const int ranks = p.problem.ranks;
    std::vector<std::string> remarks;
    if (ranks == 0 || ranks == started) return remarks;
    const MachineFile read = files.machine ? parse_machine(*files.machine) : MachineFile{};
    if (p.comm.ranks_per_node == 0 && p.comm.node_map.empty() && read.machine.ranks_per_node) {
        p.comm.ranks_per_node = std::min(*read.machine.ranks_per_node, ranks);
        remarks.push_back(fmt::format("comm.ranks_per_node = {}, as machine {} has", p.comm.ranks_per_node,
                                      read.machine.name));
    }
    const Index given = p.problem.boxes;
    const auto from = [&](const char* key) { return deck.origin[key]; };
    // Rows of a matrix need no box for each rank.
    if (p.run.mode != "spmv" && deck.is_set("problem.boxes") && from("problem.boxes") != "command line" &&
        from("problem.ranks") == "command line" && p.problem.shape == DomainShape::cube &&
        1.0 * given[0] * given[1] * given[2] < ranks) {
        deck.take_back(*deck.table->find("problem.boxes"));
        remarks.push_back(fmt::format("problem.boxes = [{}]: one box a rank in place of the deck's [{}]",
                                      fmt::join(resolved_boxes(p.problem, ranks), ","),
                                      fmt::join(given, ",")));
    }
    return remarks;
}

void check_run(Rules& rules, int started) {
    if (simulated()) check_simulated(rules);
    const Parameters& p = rules.parameters();
    const std::string& backend = p.run.backend;
    // Virtual ranks compute nothing: the devices of another machine need not be here.
    const bool elsewhere = p.problem.ranks > 0 && backend_info(backend).features.device_memory;
    const std::string reason = elsewhere ? "" : why_unusable(backend);
    rules.allow(
        reason.empty(), {"run.backend"},
        fmt::format("{}; backends that can run here: {}", reason, fmt::join(usable_backends(), ", ")));
    const bool device_aware =
        p.comm.device == DeviceMessages::device_aware && backend_info(backend).features.device_memory;
    rules.allow(!device_aware || elsewhere || Session::takes_device_memory(backend), {"comm.device"},
                fmt::format("{} does not say that it takes the memory of {} devices; choose staged or auto",
                            Session::library(), backend));
    if (const auto carrier = named<Carrier>(p.comm.transport)) {
        const std::string why_not = why_not_carried_by(*carrier, device_aware);
        rules.allow(why_not.empty(), {"comm.transport", "comm.device"}, why_not);
    }
    rules.allow(p.problem.ranks == 0 || p.problem.ranks == started, {"problem.ranks"},
                fmt::format("this run has {}; start as many, or plan for them with --dry-run", started));
    // A deck may serve both; the command line was meant for this run.
    for (const std::string key : {"bottom.assumed_iterations", "comm.all_reduce_us", "run.dry_run_limit"})
        rules.require(!rules.is_set(key) || rules.deck().origin.at(key) != "command line", {key},
                      key + ": plays a part in --dry-run alone; leave it out");
}

void check_sums(Rules& rules) {
    const Parameters& p = rules.parameters();
    rules.allow(p.comm.allreduce != AllReduceAlgorithm::automatic || !p.comm.machine.empty(),
                {"comm.allreduce", "comm.machine"},
                "least predicted time needs comm.machine; give one, such as hopper");
}

}  // namespace keel
