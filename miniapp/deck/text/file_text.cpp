#include "miniapp/deck/text/file_text.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <system_error>
#include <vector>

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

}  // namespace keel
