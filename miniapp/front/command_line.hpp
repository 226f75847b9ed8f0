#pragma once

// keel [DECK.toml] [section.key=value ...] and the --options.

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "miniapp/deck/keys.hpp"

namespace keel {

enum class Action { run, help, version, keys, solvers, backends, tables, print_deck, dry_run };

struct CommandLine {
    Action action = Action::run;
    std::string topic;  // for --help, --keys and --tables
    std::optional<std::filesystem::path> deck;
    bool verbose = false;
    bool only_changed = false;  // print only keys that differ from their defaults
    std::vector<std::string> overrides;
    std::vector<std::string> unknown;  // complaints about words that make no sense
};

CommandLine read_command_line(std::span<char* const> words);

// The text that an action without a deck prints; nothing for others. Complains, by a text that begins with
// "command line:", of a topic that there is not.
std::optional<std::string> answer(const CommandLine& command, const Table& table);

}  // namespace keel
