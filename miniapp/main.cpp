#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>

#include "build_info.hpp"
#include "comm/ranks/communicator.hpp"
#include "kernels/backends/registry.hpp"
#include "miniapp/deck/command_line.hpp"
#include "miniapp/deck/deck.hpp"
#include "miniapp/deck/tables.hpp"
#include "miniapp/report/json_lines.hpp"
#include "miniapp/report/report.hpp"
#include "miniapp/schemes/plan_text.hpp"
#include "miniapp/schemes/scheme_table.hpp"
#include "miniapp/setup/machine_facts.hpp"
#include "miniapp/setup/machine_file.hpp"
#include "miniapp/setup/memory.hpp"
#include "miniapp/setup/simulation.hpp"
#include "miniapp/studies/dry_run.hpp"
#include "solvers/krylov/methods.hpp"

namespace {

enum Status { valid = 0, invalid = 1, bad_input = 2, broken = 3 };

// Whether any rank complains; rank 0 then tells its own complaint or, if it has none, the first that another has (a deck
// that only some nodes can read). Collective.
bool refused(const std::string& complaint, const keel::Communicator& comm) {
    if (comm.max(complaint.empty() ? 0 : 1) == 0) return false;
    const std::vector<std::string> all = comm.gather(complaint);
    const auto first = std::find_if(all.begin(), all.end(), [](const auto& text) { return !text.empty(); });
    if (first != all.end()) fmt::print(stderr, "{}\n", *first);
    return true;
}

// Why the grids or the matrix do not fit where the backend keeps them; empty if they may. Collective; rank 0 knows.
std::string exceeds_memory(const keel::Parameters& parameters, const keel::Communicator& comm,
                           const keel::Backend& backend) {
    using namespace keel;
    if (parameters.run.mode == Mode::network) return "";  // no grids
    const Topology detected = detect_topology(comm);
    const auto devices = comm.gather(backend.device());
    const double on_device = comm.min(static_cast<double>(backend.free_device_bytes()));
    if (comm.rank() != 0) return "";
    const bool device = !backend.device().empty();
    return (device ? keel::exceeds_memory(parameters, comm.size(), most_ranks_per_device(devices, detected),
                                          on_device, "device")
                   : keel::exceeds_memory(parameters, comm.size(), most_ranks_per_node(detected),
                                          memory_of_node(), "node"))
        .value_or("");
}

// Whether the records could be written to output.json, if there is one; complains if not.
bool append(const std::string& output, const std::string& json_lines) {
    if (output.empty()) return true;
    std::ofstream file(output, std::ios::app);
    if (file << json_lines << std::flush) return true;
    fmt::print(stderr, "output.json = \"{}\": could not be written\n", output);
    return false;
}

// Whether the measured machine could be written to network.write, and reads back.
bool write_machine(const keel::Parameters& parameters, const keel::Results& results) {
    using namespace keel;
    const auto& network = std::get<NetworkResults>(results.of_mode);
    std::vector<std::string> comments{
        fmt::format("Measured by Keel {} ({}), run.mode = network, {} repeats: {} ranks, {}, {}.",
                    build_info::version, build_info::revision, parameters.network.repeats,
                    results.facts.ranks, results.facts.topology.describe(), results.facts.mpi)};
    comments.insert(comments.end(), network.remarks.begin(), network.remarks.end());
    if (results.facts.shared_cores)
        comments.push_back("Ranks shared processors: these are no times of a network.");
    std::ofstream(parameters.network.write) << machine_toml(network.machine, comments);
    const MachineFile back = read_machine_file(parameters.network.write);
    return back.errors.empty() && back.machine == network.machine;
}

// Why --print-plan has nothing to print; empty if it has.
std::string why_no_plan(const keel::CommandLine& command, const keel::Parameters& parameters,
                        const keel::Communicator& comm) {
    using namespace keel;
    if (parameters.run.mode == Mode::network || parameters.run.mode == Mode::spmv)
        return "command line: --print-plan: run.mode = network and spmv have no ghost cells; choose another";
    const int ranks = ranks_of(parameters, comm);
    if (command.rank < ranks) return "";
    return fmt::format("command line: --print-plan={}: there are {} ranks", command.rank, ranks);
}

// Collective. Every rank reads the deck and comes to the same verdict; rank 0 speaks.
int run(const keel::CommandLine& command, const keel::Communicator& comm) {
    using namespace keel;
    const bool speaks = comm.rank() == 0;
    std::vector<std::string> backends;
    for (const BackendInfo& info : all_backends()) backends.push_back(info.name);
    const Table table({method_names(), backends});
    switch (command.action) {
        case Action::help:
            fmt::print("{}", speaks ? help_text(table) : "");
            return valid;
        case Action::version:
            fmt::print(
                "{}", speaks ? fmt::format("Keel {} ({})\n", build_info::version, build_info::revision) : "");
            return valid;
        case Action::keys:
            fmt::print("{}", speaks ? keys_text(table) : "");
            return valid;
        case Action::readme_tables:
            fmt::print("{}", speaks ? keys_markdown(table) + "\n" + bottom_solvers_markdown() + "\n" +
                                          backends_markdown()
                                    : "");
            return valid;
        case Action::print_deck:
        case Action::dry_run:
        case Action::print_plan:
        case Action::run:
            break;
    }

    Deck deck = read_deck(table, command.deck, command.overrides);
    for (const std::string& word : command.unknown) deck.errors.push_back(word);
    for (const std::string& error : validate(deck, comm.size())) deck.errors.push_back(error);
    if (command.action == Action::run)
        for (const std::string& error : validate_for_here(deck, comm.size())) deck.errors.push_back(error);
    if (refused(fmt::format("{}", fmt::join(deck.errors, "\n")), comm)) return bad_input;
    const Parameters& parameters = deck.parameters;
    if (command.action == Action::print_deck) {
        fmt::print("{}", speaks ? print_deck(table, parameters) : "");
        return valid;
    }
    if (refused(fmt::format("{}", fmt::join(validate_part(deck, comm.size(), comm.rank()), "\n")), comm))
        return bad_input;
    if (const auto model = model_of(parameters)) require_known(*model, topology_of(parameters, comm));
    if (command.action == Action::print_plan) {
        if (refused(why_no_plan(command, parameters, comm), comm)) return bad_input;
        const std::string text = plan_text(parameters, topology_of(parameters, comm), command.rank);
        fmt::print("{}", speaks ? text : "");
        return valid;
    }
    if (command.action == Action::dry_run) {
        const DryRun dry_run = dry_run_of(parameters, comm);
        fmt::print("{}", speaks ? dry_run.text : "");
        if (speaks && !append(parameters.output.json, dry_run.json_lines)) return broken;
        return valid;
    }

    const auto backend = backend_of(parameters, comm);
    if (refused(exceeds_memory(parameters, comm, *backend), comm)) return bad_input;

    const bool chatty = speaks && (parameters.run.verbose || isatty(STDERR_FILENO) != 0);
    const Results results = simulate(parameters, comm, *backend, [&](const std::string& what) {
        if (chatty) fmt::print(stderr, "keel: {}\n", what);
    });
    if (!speaks) return results.valid() ? valid : invalid;
    fmt::print("{}\n{}", header_text(table, parameters, results.facts), results_text(parameters, results));
    if (!append(parameters.output.json, json_lines(table, parameters, results))) return broken;
    if (!parameters.network.write.empty() && !write_machine(parameters, results)) {
        fmt::print(stderr, "network.write = \"{}\": could not be written\n", parameters.network.write);
        return broken;
    }
    return results.valid() ? valid : invalid;
}

}  // namespace

int main(int argc, char** argv) {
    keel::Session session(argc, argv);
    try {
        const auto comm = keel::Communicator::world();
        return run(keel::read_command_line({argv + 1, static_cast<std::size_t>(argc - 1)}), comm);
    } catch (const keel::MissingParameter& error) {
        // All ranks know the same machine.
        if (keel::Communicator::world().rank() == 0) fmt::print(stderr, "comm.machine: {}\n", error.what());
        return bad_input;
    } catch (const std::exception& error) {
        fmt::print(stderr, "keel: rank {}: {}\n", keel::Communicator::world().rank(), error.what());
        std::fflush(nullptr);
        keel::Session::abort(broken);
    }
}
