#pragma once

// Whether files can be written, without opening any.

#include <filesystem>
#include <string>

namespace keel {

// Why `file` cannot be written; empty if it can. Opens nothing, so nothing is truncated.
std::string reason_not_writable(const std::filesystem::path& file);
// Why a file may not be made that is not to be there yet, nor to be that of the records; empty if it may.
std::string reason_not_new(const std::filesystem::path& file, const std::filesystem::path& json);

// Whether both paths are one file, whether it is there already or not.
bool is_same_file(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace keel
