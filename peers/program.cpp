#include "peers/program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>

#include "miniapp/deck/text/text.hpp"
#include "miniapp/files/data_folders.hpp"
#include "miniapp/front/agreement.hpp"
#include "miniapp/front/command_line.hpp"
#include "miniapp/modes/mode.hpp"

namespace keel {
namespace {

// The method, and the words that are the deck's.
struct Words {
    std::string method;
    std::vector<char*> of_deck;
};

Words words_of(const PeerProgram& program, std::span<char* const> all) {
    constexpr std::string_view option = "--method=";
    Words words;
    if (!program.methods.empty()) words.method = program.methods.front();
    for (char* const word : all)
        if (const std::string_view text(word); !program.methods.empty() && text.starts_with(option))
            words.method = text.substr(option.size());
        else
            words.of_deck.push_back(word);
    return words;
}

Status run_words(const PeerProgram& program, std::span<char* const> all, const Communicator& comm,
                 const std::function<Status(const PeerRun& run, const Communicator& comm)>& run) {
    if (refused(unlike_rank_0(all, comm), comm)) return bad_input;
    const bool speaks = comm.rank() == 0;
    const Words words = words_of(program, all);
    if (std::ranges::any_of(words.of_deck,
                            [](const char* word) { return std::string_view(word) == "--help"; })) {
        if (speaks) fmt::print("{}\n\n{}\n", program.usage, wrapped(program.about, 0));
        return valid;
    }
    const CommandLine command = read_command_line(words.of_deck);
    std::vector<std::string> errors = command.unknown;
    const bool has_methods = !program.methods.empty();
    if (has_methods && std::ranges::count(program.methods, words.method) == 0)
        errors.push_back(
            fmt::format("command line: --method: choose {}", fmt::join(program.methods, " or ")));
    if (command.action != Action::run)
        errors.push_back(fmt::format("command line: {} knows {}--help alone; ask keel itself for the rest",
                                     program.name, has_methods ? "--method and " : ""));
    if (refused(errors, comm)) return bad_input;

    const Table table = make_table();
    Deck deck = read_deck(table, read_once(command.deck, data_folders(), comm), command.overrides);
    if (refused(deck.errors, comm)) return bad_input;
    drop_idle_keys(deck);
    const NamedFiles files = read_named_files(deck, comm);
    if (refused(deck.errors, comm)) return bad_input;
    errors = validate(deck, files, comm.size());
    if (errors.empty()) errors = program.not_for_peers(deck, comm.size());
    if (errors.empty()) errors = validate_run(deck, comm.size());
    if (refused(errors, comm)) return bad_input;
    const Resolved resolved = resolve(deck, files, comm);
    auto file = std::make_unique<RecordFile>(deck.parameters.output.json);
    std::vector<std::string> not_open;
    if (speaks) not_open.push_back(file->open());
    std::erase(not_open, "");
    if (refused(not_open, comm)) return bad_input;
    return run({words.method, deck, resolved, std::move(file)}, comm);
}

}  // namespace

Status run_peer(const PeerProgram& program, std::span<char* const> words,
                const std::function<Status(const PeerRun& run, const Communicator& comm)>& run) {
    const Communicator& world = Communicator::world();
    try {
        return run_words(program, words, world, run);
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}: rank {}: {}\n", program.name, world.rank(), error.what());
        std::fflush(nullptr);
        Session::abort(broken);
    }
}

}  // namespace keel
