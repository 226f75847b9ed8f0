// The way of a run: words, deck, mode, report, exit status.

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <new>
#include <nlohmann/json.hpp>
#include <span>

#include "comm/ranks/communicator.hpp"
#include "comm/ranks/starter.hpp"
#include "kernels/timing/clock.hpp"
#include "miniapp/deck/text/key_text.hpp"
#include "miniapp/deck/text/text.hpp"
#include "miniapp/files/data_folders.hpp"
#include "miniapp/front/actions.hpp"
#include "miniapp/front/agreement.hpp"
#include "miniapp/front/command_line.hpp"
#include "miniapp/front/reporter.hpp"
#include "miniapp/modes/mode.hpp"
#include "miniapp/setup/machine/machine_facts.hpp"
#include "miniapp/setup/rules/run_rules.hpp"

namespace {

using namespace keel;

// Prints the answer to a question about the program; for other actions nothing.
std::optional<Status> answered(const CommandLine& command, const Table& table, bool speaks) {
    const auto text = answer(command, table);
    if (!text) return {};
    const bool complains = text->starts_with("command line:");
    if (speaks) std::fputs((complains ? wrapped(*text, 4) : *text).c_str(), complains ? stderr : stdout);
    return complains ? bad_input : valid;
}

// The same without MPI, which does not start on every login node. Processes that were started together need
// it to agree which of them prints.
std::optional<Status> answered_alone(std::span<char* const> words) {
    if (simulated() || !started_tasks().variable.empty()) return {};
    return answered(read_command_line(words), make_table(), true);
}

int exit_status(Status status) {
    write_out();
    return std::ferror(stdout) != 0 ? broken : status;
}

// Collective. Every rank comes to the same verdict; rank 0 speaks.
Status run(std::span<char* const> all_words, const Start& start, const Communicator& comm) {
    const auto words = all_words.subspan(1);
    if (refused(unlike_rank_0(words, comm), comm)) return bad_input;
    const bool speaks = comm.rank() == 0;
    const CommandLine command = read_command_line(words);
    const Table table = make_table();
    if (const auto status = answered(command, table, speaks)) return *status;

    Deck deck = read_deck(table, read_once(command.deck, data_folders(), comm), command.overrides);
    deck.errors.insert(deck.errors.end(), command.unknown.begin(), command.unknown.end());
    std::vector<std::string> remarks = drop_idle_keys(deck);
    const NamedFiles files = read_named_files(deck, comm);
    if (command.action == Action::dry_run)
        for (const std::string& remark : fit_virtual_ranks(deck, files, comm.size()))
            remarks.push_back(remark);
    // Files are looked at by rank 0 alone; what a rank must have to run, by each.
    std::vector<std::string> errors = speaks ? deck.errors : std::vector<std::string>();
    const auto add = [&](const std::vector<std::string>& more) {
        errors.insert(errors.end(), more.begin(), more.end());
    };
    if (speaks) add(validate(deck, files, comm.size(), command.action == Action::dry_run));
    if (command.action == Action::run) add(validate_run(deck, comm.size()));
    if (speaks && command.action == Action::print_deck) add(unprintable_keys(table, deck.parameters));
    if (refused(errors, comm)) return bad_input;
    if (command.action == Action::print_deck) {
        if (command.only_changed) {
            for (const std::string& line : non_default_keys(table, deck.parameters))
                if (speaks) fmt::print("{}\n", line);
        } else if (speaks)
            fmt::print(
                "{}", print_deck(table, deck.parameters, [&](const Key& key) { return is_idle(deck, key); }));
        return valid;
    }
    if (refused(validate_on(deck, comm, command.action == Action::dry_run), comm)) return bad_input;

    const Resolved resolved = resolve(deck, files, comm);
    if (resolved.machine) require_known(*resolved.machine, resolved.topology);
    const auto mode = mode_of(deck).prepare(deck, resolved);
    const std::vector<std::string>& more = mode->resolved().remarks;
    remarks.insert(remarks.end(), more.begin(), more.end());
    const DeckFacts facts{non_default_keys(table, deck.parameters), remarks,
                          json_text(resolved_json(table, deck.parameters)),
                          origin_of(all_words, deck.parameters.run.label)};
    const std::string& records = deck.parameters.output.json;
    if (command.action == Action::dry_run) return dry_run(*mode, facts, records, command.verbose, comm);
    return run_mode(*mode, facts, records, command.verbose, deck.parameters.run.time_limit, start, comm);
}

}  // namespace

int main(int argc, char** argv) {
    Start start{keel::now(), 0};
    if (const auto status = answered_alone(std::span(argv, static_cast<std::size_t>(argc)).subspan(1)))
        return exit_status(*status);
    keel::Session session(argc, argv);
    start.mpi_seconds = keel::now() - start.begun;
    try {
        return exit_status(run({argv, static_cast<std::size_t>(argc)}, start, Communicator::world()));
    } catch (const MissingParameter& error) {
        // All ranks know the same machine.
        if (Communicator::world().rank() == 0)
            fmt::print(stderr, "comm.machine: {}\n", shown(error.what(), std::string::npos));
        return bad_input;
    } catch (const std::bad_alloc&) {
        fmt::print(
            stderr,
            "keel: rank {}: no more memory; it held {} at most. Choose a smaller problem or fewer ranks "
            "a node; --dry-run tells what a rank needs\n",
            Communicator::world().rank(), bytes_text(static_cast<double>(peak_resident_bytes())));
        std::fflush(nullptr);
        Session::abort(broken);
    } catch (const std::exception& error) {
        fmt::print(stderr, "keel: rank {}: {}\n", Communicator::world().rank(),
                   shown(error.what(), std::string::npos));
        std::fflush(nullptr);
        Session::abort(broken);
    }
}
