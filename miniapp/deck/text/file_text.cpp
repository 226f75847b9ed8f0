#include "miniapp/deck/text/file_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>
#include <vector>

#include "kernels/hash.hpp"
#include "miniapp/deck/text/text.hpp"

namespace keel {
namespace {

// Whether the line begins a section and no name: "[ #".
bool lacks_section_name(const std::string& line) {
    std::string rest = trimmed(line);
    if (!rest.starts_with('[')) return false;
    rest = trimmed(rest.substr(rest.starts_with("[[") ? 2 : 1));
    return rest.empty() || (std::isalnum(static_cast<unsigned char>(rest.front())) == 0 &&
                            std::string_view("_-\"']").find(rest.front()) == std::string_view::npos);
}

}  // namespace

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

std::optional<Unparsable> why_unparsable(const std::string& text) {
    constexpr long deepest = 50;  // points in a line, comments aside; a key of 20,000 parts ends toml++ 3.3
    std::istringstream lines(text);
    std::string line;
    for (long number = 1; std::getline(lines, line); ++number) {
        const auto control = std::ranges::find_if(
            line, [](unsigned char c) { return (c < 0x20 && c != '\t' && c != '\r') || c == 0x7f; });
        if (control != line.end())
            return Unparsable{
                number, fmt::format("not valid TOML: a control character, {}", std::string(1, *control))};
        if (trimmed(line).starts_with('#')) continue;
        if (lacks_section_name(line))
            return Unparsable{number, "not valid TOML: a section without a name; write [section]"};
        if (std::ranges::count(line, '.') > deepest)
            return Unparsable{number, fmt::format("more than {} points in a line; write section.key, and "
                                                  "long texts shorter",
                                                  deepest)};
    }
    return {};
}

}  // namespace keel
