// The library itself is compiled here and nowhere else, without its assertions (miniapp/CMakeLists.txt): some
// texts break them that it survives and complains of, as "x = [}" in release 3.3.

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

// The line of the first character beyond ASCII outside of quotes and comments, where TOML has none; 0: there
// is none. On some of them, accented letters among them, the library's behaviour is undefined.
long line_beyond_ascii(std::string_view text) {
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // a mark of UTF-8 that editors set
    long line = 1;
    std::string_view quotes;  // the quotes that end the text at hand; empty: none is at hand
    bool comment = false;
    char before = '\n';  // the last character that is not blank
    // Quotes elsewhere than behind these are a mistake and begin nothing.
    const auto may_begin = [&] { return std::string_view("\n=,[{.").find(before) != std::string_view::npos; };
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        const bool ends_line = c == '\n';
        if (ends_line) {
            ++line;
            comment = false;
            if (quotes.size() == 1) quotes = {};  // a mistake, which the library complains of
            if (quotes.empty()) before = c;
        }
        if (comment || ends_line) continue;
        if (!quotes.empty()) {
            if (c == '\\' && quotes.front() == '"') {
                if (text.substr(at + 1, 1) != "\n") ++at;
            } else if (text.substr(at).starts_with(quotes)) {
                at += quotes.size() - 1;
                quotes = {};
                before = c;
            }
        } else if ((c == '"' || c == '\'') && may_begin()) {
            const std::string_view three = c == '"' ? R"(""")" : "'''";
            quotes = text.substr(at).starts_with(three) ? three : three.substr(2);
            at += quotes.size() - 1;
        } else if (c == '#') {
            comment = true;
        } else if (static_cast<unsigned char>(c) >= 0x80) {
            return line;
        } else if (c != ' ' && c != '\t' && c != '\r') {
            before = c;
        }
    }
    return 0;
}

// Why a text is kept from the library, not every release of which survives control characters, deep keys and
// nameless sections.
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
    if (const long beyond = line_beyond_ascii(text))
        return TomlError{beyond, 0,
                         "not valid TOML: a character that is not ASCII; it may stand in quotes or comments"};
    return {};
}

}  // namespace

nlohmann::ordered_json value_of(const toml::node& node) {
    if (const auto* text = node.as_string()) return text->get();
    if (const auto* integer = node.as_integer()) return integer->get();
    if (const auto* real = node.as_floating_point()) return real->get();
    if (const auto* flag = node.as_boolean()) return flag->get();
    if (node.is_table()) return nlohmann::ordered_json::object();
    if (!node.is_array()) return nullptr;
    auto array = nlohmann::ordered_json::array();
    for (const toml::node& element : *node.as_array()) array.push_back(value_of(element));
    return array;
}

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
