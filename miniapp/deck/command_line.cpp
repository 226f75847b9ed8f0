#include "miniapp/deck/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <map>
#include <optional>
#include <string_view>

#include "miniapp/deck/spelling.hpp"
#include "miniapp/deck/tables.hpp"

namespace keel {
namespace {

// Of "--print-plan=RANK".
std::optional<int> rank_of(std::string_view word) {
    constexpr std::string_view option = "--print-plan=";
    if (!word.starts_with(option)) return {};
    word.remove_prefix(option.size());
    int rank = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), rank);
    if (error != std::errc() || end != word.data() + word.size() || rank < 0) return {};
    return rank;
}

}  // namespace

CommandLine read_command_line(std::span<char* const> words) {
    const std::map<std::string, Action> options{{"--help", Action::help},
                                                {"-h", Action::help},
                                                {"--version", Action::version},
                                                {"--keys", Action::keys},
                                                {"--readme-tables", Action::readme_tables},
                                                {"--print-deck", Action::print_deck},
                                                {"--dry-run", Action::dry_run},
                                                {"--print-plan", Action::print_plan}};
    std::vector<std::string> names;
    for (const auto& option : options) names.push_back(option.first);

    CommandLine command;
    for (const std::string word : words) {
        if (const auto option = options.find(word); option != options.end()) {
            command.action = option->second;
        } else if (const auto rank = rank_of(word)) {
            command.action = Action::print_plan;
            command.rank = *rank;
        } else if (word.starts_with("-")) {
            const auto similar = nearest(word, names);
            command.unknown.push_back(
                fmt::format("command line: {}: unknown option; choose {}{}", word, fmt::join(names, ", "),
                            similar ? fmt::format(" (did you mean {}?)", *similar) : ""));
        } else if (word.find('=') != std::string::npos) {
            command.overrides.push_back(word);
        } else if (!command.deck) {
            command.deck = word;
        } else {
            command.unknown.push_back(fmt::format(
                "command line: \"{}\" is a second deck after \"{}\"; give one deck, then section.key=value",
                word, command.deck->string()));
        }
    }
    return command;
}

std::string help_text(const Table& table) {
    return "usage: keel [DECK.toml] [section.key=value ...]\n"
           "       keel --help | --version | --keys\n"
           "       keel --print-deck | --dry-run | --print-plan[=RANK] [DECK] [k=v ...]\n\n"
           "--keys lists every key; --readme-tables prints that list and the one of bottom solvers as "
           "Markdown.\n"
           "Solves a alpha u - b div(beta grad u) = f with geometric multigrid, checks the answer and prints "
           "where the\n"
           "time went. Without a deck: all defaults. Start it with mpiexec for more than one rank.\n"
           "Exit status: 0 valid, 1 a check failed or no convergence, 2 bad input, 3 MPI or device "
           "error.\n\n" +
           bottom_solvers_text() + "\n" + backends_text() + "\n" + keys_text(table);
}

}  // namespace keel
