#pragma once

// Linux control groups: what a batch system or a container grants this process.

#include <filesystem>
#include <string>
#include <vector>

namespace keel {

// The folders of the control groups, of version 1 and 2, that this process is in and of those around them,
// which limit it as well. `controller` is "cpu" or "memory"; `root` stands for / of the file system.
std::vector<std::filesystem::path> control_groups(const std::string& controller,
                                                  const std::filesystem::path& root = "/");

// Bytes of memory that the tightest of these groups grants, +infinity without a limit; `root` likewise.
double memory_granted(const std::filesystem::path& root = "/");

}  // namespace keel
