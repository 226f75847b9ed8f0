#include "miniapp/deck/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace keel {
namespace {

// The bytes of the UTF-8 character that begins the text, which is not empty; 0: none does.
std::size_t first_character(std::string_view text) {
    const auto byte = [&](std::size_t n) { return static_cast<unsigned char>(text[n]); };
    const unsigned char lead = byte(0);
    if (lead < 0x80) return 1;
    const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return 0;
    for (std::size_t n = 1; n < bytes; ++n)
        if ((byte(n) & 0xc0) != 0x80) return 0;
    // Longer than needed, surrogates, and beyond the last character.
    const bool outside = (lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xed && byte(1) > 0x9f) ||
                         (lead == 0xf0 && byte(1) < 0x90) || (lead == 0xf4 && byte(1) > 0x8f);
    return outside ? 0 : bytes;
}

// Whether a terminal may obey the character.
bool is_control(std::string_view character) {
    const auto byte = static_cast<unsigned char>(character.front());
    return byte < 0x20 || byte == 0x7f ||
           (byte == 0xc2 && static_cast<unsigned char>(character.back()) < 0xa0);
}

// Four digits of a number from 0.1 to 1000.
std::string four_digits(double value) {
    const double size = std::abs(value);
    return size < 9.9995   ? fmt::format("{:.3f}", value)
           : size < 99.995 ? fmt::format("{:.2f}", value)
                           : fmt::format("{:.1f}", value);
}

}  // namespace

std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
    std::string result;
    std::size_t column = 0;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = text.find(' ', at);
        if (end == std::string_view::npos) end = text.size();
        const std::string_view word = text.substr(at, end - at);
        if (at > 0 && column + 1 + word.size() > width) {
            result += '\n' + std::string(indent, ' ');
            column = indent;
        } else if (at > 0) {
            result += ' ';
            ++column;
        }
        result += word;
        column += word.size();
        at = end + 1;
    }
    return result;
}

std::string wrapped_lines(std::string_view text) {
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        result += wrapped(shown(text.substr(at, end - at), std::string::npos), 4);
        if (end < text.size()) result += '\n';
        at = end + 1;
    }
    return result;
}

std::string printable(std::string_view text) {
    std::string result;
    for (const char c : text)
        result += c >= ' ' && c <= '~' ? std::string(1, c)
                                       : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    return result;
}

bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const std::size_t bytes = first_character(text);
        if (bytes == 0) return false;
        text.remove_prefix(bytes);
    }
    return true;
}

std::string shown(std::string_view text, std::size_t most) {
    std::string result;
    for (std::size_t at = 0; at < std::min(text.size(), most);) {
        const std::size_t bytes = first_character(text.substr(at));
        const std::string_view character = text.substr(at, std::max(bytes, std::size_t{1}));
        result += bytes == 0 || is_control(character) ? printable(character) : std::string(character);
        at += character.size();
    }
    if (text.size() > most) result += fmt::format("... ({} characters)", text.size());
    return result;
}

std::string counted(long number, const std::string& what) {
    return fmt::format("{} {}{}", number, what, number == 1 ? "" : what.ends_with('x') ? "es" : "s");
}

std::string trimmed(const std::string& text) {
    const char* const blanks = " \t";
    const auto first = text.find_first_not_of(blanks);
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string bytes_text(double bytes, int decimals) {
    const char* const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    std::size_t n = 0;
    while (n + 1 < std::size(units) && std::abs(bytes) >= 999.95) {
        bytes /= 1000;
        ++n;
    }
    return n == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.{}f} {}", bytes, decimals, units[n]);
}

std::string seconds_text(double seconds) {
    const double size = std::abs(seconds);
    if (size == 0) return "0";
    if (size < 999.95e-9) return fmt::format("{} ns", four_digits(seconds * 1e9));
    if (size < 999.95e-6) return fmt::format("{} us", four_digits(seconds * 1e6));
    if (size < 999.95e-3) return fmt::format("{} ms", four_digits(seconds * 1e3));
    if (size < 999.95) return fmt::format("{} s", four_digits(seconds));
    return size < 999999.5 ? fmt::format("{:.0f} s", seconds) : fmt::format("{:.2e} s", seconds);
}

}  // namespace keel
