#include "miniapp/deck/text/file_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <system_error>
#include <vector>

#include "kernels/hash.hpp"
#include "miniapp/deck/text/text.hpp"

namespace keel {

FileText read_text(const std::filesystem::path& file, std::size_t most_bytes) {
    FileText result{.name = file.string(), .text = {}, .error = {}};
    std::error_code ignored;
    if (std::filesystem::is_directory(file, ignored)) {
        result.error = "is a folder; give a file";
        return result;
    }
    std::ifstream stream(file, std::ios::binary);
    std::vector<char> part(1 << 16);
    while (stream && result.text.size() <= most_bytes) {
        stream.read(part.data(), static_cast<std::streamsize>(part.size()));
        result.text.append(part.data(), static_cast<std::size_t>(stream.gcount()));
    }
    if (!stream.eof() && !stream)
        result.error = fmt::format("cannot be read: {}; give the path of a file",
                                   std::generic_category().message(errno));
    else if (result.text.size() > most_bytes)
        result.error = fmt::format("longer than {} bytes; give a shorter file", most_bytes);
    if (!result.error.empty()) result.text.clear();
    return result;
}

std::string digest(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    if (!stream) return "none that it can read";
    std::vector<char> part(1 << 16);
    std::uint64_t hash = 0;
    long bytes = 0;
    while (stream) {
        std::ranges::fill(part, '\0');
        stream.read(part.data(), static_cast<std::streamsize>(part.size()));
        const auto read = static_cast<std::size_t>(stream.gcount());
        for (std::size_t at = 0; at < read; at += sizeof(std::uint64_t)) {
            std::uint64_t word = 0;
            std::memcpy(&word, &part[at], sizeof word);
            hash = scramble(hash ^ word);
        }
        bytes += stream.gcount();
    }
    return fmt::format("{}, digest {:016x}", counted(bytes, "byte"), hash);
}

}  // namespace keel
