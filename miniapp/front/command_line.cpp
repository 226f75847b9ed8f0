#include "miniapp/front/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <map>

#include "build_info.hpp"
#include "miniapp/deck/text/key_text.hpp"
#include "miniapp/deck/text/spelling.hpp"
#include "miniapp/deck/text/text.hpp"
#include "miniapp/modes/mode.hpp"
#include "miniapp/report/tables/choices.hpp"

namespace keel {
namespace {

const std::map<std::string, Action>& options() {
    static const std::map<std::string, Action> all{
        {"--help", Action::help},       {"-h", Action::help},
        {"--version", Action::version}, {"--keys", Action::keys},
        {"--solvers", Action::solvers}, {"--backends", Action::backends},
        {"--tables", Action::tables},   {"--print-deck", Action::print_deck},
        {"--dry-run", Action::dry_run}};
    return all;
}

bool has_topic(Action action) {
    return action == Action::help || action == Action::keys || action == Action::tables;
}

// Whether a word is section.key=value, not a deck whose path has a "=".
bool is_override(const std::string& word) {
    const std::string key = word.substr(0, word.find('='));
    if (key == word || key.find('/') != key.npos) return false;
    return key.find('.') != key.npos || !word.ends_with(".toml");
}

// The keys that a first study changes.
constexpr std::array first_keys{
    "problem.box",   "problem.boxes", "problem.coefficients", "problem.boundary", "multigrid.tolerance",
    "bottom.solver", "comm.scheme",   "run.backend",          "run.repeats",      "output.json"};

std::string help_text(const Table& table) {
    std::string text =
        "usage: keel [DECK.toml] [section.key=value ...]\n"
        "       keel --benchmark [--quick] [DECK.toml] [section.key=value ...]\n"
        "       keel --dry-run [DECK.toml] [section.key=value ...]\n"
        "       keel --print-deck[=changed] [DECK.toml] [section.key=value ...]\n"
        "       keel --help [KEY] | --keys [SECTION | KEY | all] | --solvers | --backends | --version\n\n" +
        wrapped(
            "Solves a alpha u - b div(beta grad u) = f with geometric multigrid, checks the answer and "
            "prints where the time went. Without a deck every key has its default; section.key=default takes "
            "back what a deck says. Start it with mpiexec for more than one rank.",
            0) +
        "\n\nModes (run.mode):\n";
    for (const auto& mode : modes()) text += fmt::format("  {:<15} {}\n", mode->name(), mode->meaning());
    text += "\nKeys to begin with; --keys has more:\n";
    for (const char* const key : first_keys)
        text += wrapped(fmt::format("  {:<21}{}", key, table.find(key)->meaning), 23) + "\n";
    return text +
           "\n"
           "--benchmark    the Keel benchmark (docs/benchmark.md); with --quick small, not to be submitted\n"
           "--dry-run      what a run would be: sizes, memory, messages, predicted times\n"
           "--print-deck   a complete deck with a comment on each key; =changed: what differs from defaults\n"
           "--keys         the common keys of decks, all, those of a section, or one\n"
           "--solvers      the solvers of bottom.solver, what an iteration costs, and which to try first\n"
           "--backends     the programming models of run.backend, and which can run here\n"
           "--tables PAGE  a table of the documentation, as Markdown: keys, solvers, backends\n"
           "--verbose      progress on stderr even where it is no terminal\n"
           "--             what follows is a deck, also if it looks like an option or section.key=value\n\n"
           "Exit status: 0 valid, 1 a check failed or no convergence, 2 bad input, 3 MPI or device error,\n"
           "4 interrupted: SIGINT, SIGTERM or run.time_limit ended the run after the solve at hand.\n";
}

std::string keys_answer(const Table& table, const std::string& topic) {
    const std::string text = keys_text(table, topic);
    if (!text.empty()) return text;
    std::vector<std::string> names = table.sections();
    for (const Key& key : table.keys()) names.push_back(key.full_name());
    return fmt::format("command line: {}: no key and no section; the sections are {}{}\n", shown(topic),
                       fmt::join(table.sections(), ", "), did_you_mean(topic, names));
}

std::string table_answer(const Table& table, const std::string& topic) {
    if (topic == "keys") return keys_markdown(table);
    if (topic == "solvers") return bottom_solvers_markdown();
    if (topic == "backends") return backends_markdown();
    return fmt::format("command line: --tables {}: unknown page; choose keys, solvers, backends\n",
                       shown(topic));
}

void take_deck(const std::string& word, CommandLine& command) {
    if (command.deck)
        command.unknown.push_back(fmt::format(
            "command line: \"{}\" is a second deck after \"{}\"; give one deck, then section.key=value",
            shown(word), shown(command.deck->string())));
    else
        command.deck = word;
}

}  // namespace

CommandLine read_command_line(std::span<char* const> words) {
    std::vector<std::string> names;
    for (const auto& option : options()) names.push_back(option.first);
    const std::string verbose = "--verbose";
    const std::string benchmark = "--benchmark";
    const std::string quick = "--quick";
    const std::string changed = "--print-deck=changed";
    names.insert(names.end(), {verbose, benchmark, quick, changed});

    CommandLine command;
    bool decks = false;  // behind "--"
    bool is_benchmark = false;
    bool is_quick = false;
    for (const std::string word : words) {
        if (!decks && word == "--") {
            decks = true;
        } else if (decks) {
            take_deck(word, command);
        } else if (const auto option = options().find(word); option != options().end()) {
            command.action = option->second;
        } else if (word == verbose) {
            command.verbose = true;
        } else if (word == benchmark) {
            is_benchmark = true;
        } else if (word == quick) {
            is_quick = true;
        } else if (word == changed) {
            command.action = Action::print_deck;
            command.only_changed = true;
        } else if (word.starts_with("-")) {
            const auto similar = nearest(word, names);
            command.unknown.push_back(fmt::format(
                "command line: {}: unknown option; choose {}{}", shown(word), fmt::join(names, ", "),
                similar ? fmt::format(" (did you mean {}?)", *similar) : ""));
        } else if (has_topic(command.action) && command.topic.empty()) {
            command.topic = word;
        } else if (is_override(word)) {
            command.overrides.push_back(word);
        } else {
            take_deck(word, command);
        }
    }
    if (is_benchmark)
        command.overrides.emplace_back(is_quick ? "run.mode=quick_benchmark" : "run.mode=benchmark");
    else if (is_quick)
        command.unknown.emplace_back("command line: --quick: needs --benchmark");
    return command;
}

std::optional<std::string> answer(const CommandLine& command, const Table& table) {
    switch (command.action) {
        case Action::help:
            return command.topic.empty() ? help_text(table) : keys_answer(table, command.topic);
        case Action::version:
            return fmt::format("Keel {} ({}), sources {}\n", build_info::version, build_info::revision,
                               build_info::sources);
        case Action::keys:
            return command.topic.empty() ? keys_text(table) : keys_answer(table, command.topic);
        case Action::solvers:
            return bottom_solvers_text();
        case Action::backends:
            return backends_text();
        case Action::tables:
            return table_answer(table, command.topic);
        case Action::print_deck:
        case Action::dry_run:
        case Action::run:
            break;
    }
    return {};
}

}  // namespace keel
