#pragma once

// Machines as TOML files: inputs/machines/<name>.toml.

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "comm/costs/machine.hpp"

namespace keel {

// A machine and, if the file is not right, every complaint, with the remedy: "FILE:LINE: key = value: what is wrong".
struct MachineFile {
    Machine machine;
    std::vector<std::string> errors;
};

// Reads a machine, which is named like the file. Parameters may be left out, but not half given.
MachineFile read_machine_file(const std::filesystem::path& file);

// The same of a machine by name: of inputs/machines/<name>.toml, or of `name` itself if that ends in .toml.
MachineFile read_machine(const std::string& name);

// The machine as such a file, which reads back to the same numbers, below some lines of comment.
std::string machine_toml(const Machine& machine, std::span<const std::string> comments);

}  // namespace keel
