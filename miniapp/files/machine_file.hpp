#pragma once

// Machines as TOML files: machines/<name>.toml.

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "comm/costs/machine.hpp"
#include "miniapp/deck/text/file_text.hpp"

namespace keel {

// A machine and, if the file is not right, every complaint, with the remedy:
// "FILE:LINE: key = value: what is wrong".
struct MachineFile {
    Machine machine;
    std::vector<std::string> errors;
};

// A machine, named like the file. Parameters may be left out, but not half given.
MachineFile parse_machine(const FileText& file);

// The file of a machine by name, or at `name` itself if that ends in .toml. Named machines are looked for in
// machines/ of the folder `beside`, that of the deck, and of the data folders; a path also from there.
FileText find_machine(const std::string& name, const std::filesystem::path& beside = {});

// The machine as such a file, which reads back to the same numbers, below some lines of comment.
std::string machine_toml(const Machine& machine, std::span<const std::string> comments);

}  // namespace keel
