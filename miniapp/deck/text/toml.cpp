// The library itself is compiled here and nowhere else, without its assertions (miniapp/CMakeLists.txt): some texts break
// them that it survives and complains of, as "x = [}" in release 3.3.

#include "miniapp/deck/text/toml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <string_view>

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

// Why a text is kept from the library, not every release of which survives control characters, deep keys and nameless
// sections.
std::optional<TomlError> why_unparsable(const std::string& text) {
    constexpr long deepest = 50;  // points in a line, comments aside; a key of 20,000 parts ends toml++ 3.3
    std::istringstream lines(text);
    std::string line;
    for (long number = 1; std::getline(lines, line); ++number) {
        const auto control = std::ranges::find_if(
            line, [](unsigned char c) { return (c < 0x20 && c != '\t' && c != '\r') || c == 0x7f; });
        if (control != line.end())
            return TomlError{
                number, 0, fmt::format("not valid TOML: a control character, {}", std::string(1, *control))};
        if (trimmed(line).starts_with('#')) continue;
        if (lacks_section_name(line))
            return TomlError{number, 0, "not valid TOML: a section without a name; write [section]"};
        if (std::ranges::count(line, '.') > deepest)
            return TomlError{number, 0,
                             fmt::format("more than {} points in a line; write section.key, and "
                                         "long texts shorter",
                                         deepest)};
    }
    return {};
}

}  // namespace

Toml parse_toml(const std::string& text) {
    if (const auto unparsable = why_unparsable(text)) return {{}, unparsable};
    try {
        return {toml::parse(text), {}};
    } catch (const toml::parse_error& error) {
        const auto& at = error.source().begin;
        return {{}, TomlError{at.line, at.column, fmt::format("not valid TOML: {}", error.description())}};
    }
}

}  // namespace keel
