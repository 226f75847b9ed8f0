#pragma once

// Texts of files that users write; their meaning is read elsewhere.

#include <cstddef>
#include <filesystem>
#include <string>

namespace keel {

// A file as it was read, or why it could not be.
struct FileText {
    std::string name;
    std::string text;
    std::string error;
};
inline constexpr std::size_t most_deck_bytes = 1 << 20;
// At most `most_bytes` bytes; a longer file, such as /dev/zero, is an error.
FileText read_text(const std::filesystem::path& file, std::size_t most_bytes = most_deck_bytes);

}  // namespace keel
