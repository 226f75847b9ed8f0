#pragma once

// Machines as TOML files: machines/<name>.toml.

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "comm/costs/machine.hpp"
#include "miniapp/deck/file_text.hpp"

namespace keel {

// A machine and, if the file is not right, every complaint, with the remedy: "FILE:LINE: key = value: what is wrong".
struct MachineFile {
    Machine machine;
    std::vector<std::string> errors;
};

// A machine, named like the file. Parameters may be left out, but not half given.
MachineFile parse_machine(const FileText& file);

// The file of a machine by name, or at `name` itself if that ends in .toml. Named machines are looked for in machines/ of
// the data folders (data_folders()).
FileText find_machine(const std::string& name);

// Where decks' machines are looked for, in this order: inputs/ of the working directory, the folder that the variable KEEL_DATA of
// the environment names, the data that is installed beside the executable, and the folder that it was compiled from.
std::vector<std::filesystem::path> data_folders();

// The machine as such a file, which reads back to the same numbers, below some lines of comment.
std::string machine_toml(const Machine& machine, std::span<const std::string> comments);

}  // namespace keel
