#pragma once

// The files that a run writes: whether they can be.

#include <filesystem>
#include <string>

namespace keel {

// Why `file` cannot be written; empty if it can. Opens nothing, so nothing is truncated.
std::string reason_not_writable(const std::filesystem::path& file);
// Returns why `file` cannot be created, or an empty string. It must not exist and must differ from
// output.json.
std::string reason_not_new(const std::filesystem::path& file, const std::filesystem::path& json);

// Whether both paths are one file, whether it is there already or not.
bool is_same_file(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace keel
