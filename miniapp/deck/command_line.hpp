#pragma once

// keel [DECK.toml] [section.key=value ...] and the --options.

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "miniapp/deck/parameters.hpp"

namespace keel {

enum class Action { run, help, version, keys, readme_tables, print_deck, dry_run, print_plan };

struct CommandLine {
    Action action = Action::run;
    std::optional<std::filesystem::path> deck;
    int rank = 0;  // whose plan is printed
    std::vector<std::string> overrides;
    std::vector<std::string> unknown;  // complaints about words that make no sense
};

CommandLine read_command_line(std::span<char* const> words);

std::string help_text(const Table& table);

}  // namespace keel
