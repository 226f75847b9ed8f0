#pragma once

// Text for terminals.

#include <string>
#include <string_view>

namespace keel {

inline constexpr std::size_t line_width = 100;

// The text in lines of at most `width` columns, broken at blanks; all but the first begin with `indent`
// blanks. Words that are longer stand alone.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width = line_width);

// Each line of the text by itself as shown(), those that are too long broken behind an indent of 4.
std::string wrapped_lines(std::string_view text);

// The text with each byte that is not printable ASCII as \xNN.
std::string printable(std::string_view text);

// Whether all of it is UTF-8, which names of files and words of the command line need not be.
bool is_utf8(std::string_view text);

// Text of a user, fit to be shown: control characters and bytes that are no UTF-8 as \xNN, and no more than
// `most` bytes of it.
std::string shown(std::string_view text, std::size_t most = 80);

std::string trimmed(const std::string& text);  // without the blanks and tabs around it

std::string counted(long number, const std::string& what);  // "1 rank", "3 ranks", "2 boxes"

// Numbers with units that fit them.
std::string bytes_text(double bytes, int decimals = 1);  // "14.5 MB"
std::string seconds_text(double seconds);                // "3.37 ms", in 4 digits

}  // namespace keel
