#include "miniapp/modes/spmv/matrix/file/matrix_market.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>
#include <vector>

#include "comm/patterns/row_partition.hpp"
#include "miniapp/deck/text/text.hpp"

namespace keel {
namespace {

// Reads a file line by line and splits each line into words. `line` is the number of the last line read;
// behind more than these bytes it complains.
class LineReader {
  public:
    LineReader(std::istream& file, std::string name, long line, const ReadLimit& limit)
        : file_(file), name_(std::move(name)), line_(line), limit_(limit) {}

    // The words of the next line that has any and is no comment, unless that is wanted; false at the end.
    bool next(bool comments = false) {
        while (read()) {
            split();
            if (!words_.empty() && (comments || !words_.front().starts_with('%'))) return true;
        }
        return false;
    }
    const std::vector<std::string_view>& words() const { return words_; }
    const std::string& text() const { return text_; }
    long line() const { return line_; }

    [[noreturn]] void complain(const std::string& what) const {
        throw MatrixFileError(fmt::format("{}:{}: {}", name_, line_, printable(what)));
    }

    std::int64_t integer(std::size_t word, const std::string& what, std::int64_t lowest,
                         std::int64_t highest) const {
        const std::string_view text = words_[word];
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || end != text.data() + text.size() || value < lowest || value > highest)
            complain(fmt::format("{} = {}: must be an integer from {} to {}", what, text, lowest, highest));
        return value;
    }

    double number(std::size_t word, bool whole) const {
        std::string_view text = words_[word];
        if (text.starts_with('+')) text.remove_prefix(1);
        std::string with_e;
        if (const auto d = text.find_first_of("dD"); d != text.npos) {  // Fortran's 1.5D+03
            with_e = text;
            with_e[d] = 'e';
            text = with_e;
        }
        double value = 0;
        auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error == std::errc::result_out_of_range) {  // also of 1e-400, which is nearest to 0
            value = std::strtod(std::string(text).c_str(), nullptr);
            if (!whole && std::abs(value) < 1) error = {};
        }
        if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value) ||
            (whole && value != std::floor(value)))
            complain(
                fmt::format("value {}: must be a finite {}", words_[word], whole ? "integer" : "number"));
        return value;
    }

  private:
    static constexpr const char* blanks = " \t\r\f\v";

    bool read() {
        ++line_;
        file_.getline(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
        if (file_.bad()) complain("cannot be read: no file, or compressed data damaged or cut short");
        const auto read = static_cast<std::size_t>(file_.gcount());
        bytes_ += static_cast<double>(read);
        if (bytes_ > limit_.bytes)
            complain(fmt::format("more than {}: {}", bytes_text(limit_.bytes), limit_.remedy));
        if (file_.fail() && read + 1 == buffer_.size())
            complain(fmt::format("a line longer than {} characters; the format allows 1024", read));
        if (file_.fail()) return false;
        text_.assign(buffer_.data(), file_.eof() ? read : read - 1);  // without the end of the line
        if (line_ == 1 && text_.starts_with("\xef\xbb\xbf")) text_.erase(0, 3);  // a byte order mark
        return true;
    }
    void split() {
        words_.clear();
        const std::string_view text = text_;
        for (auto begin = text.find_first_not_of(blanks); begin != text.npos;) {
            const auto end = std::min(text.find_first_of(blanks, begin), text.size());
            words_.push_back(text.substr(begin, end - begin));
            begin = text.find_first_not_of(blanks, end);
        }
    }
    std::istream& file_;
    std::string name_;
    long line_;
    ReadLimit limit_;
    double bytes_ = 0;  // read so far
    std::vector<char> buffer_ = std::vector<char>(1 << 16);
    std::string text_;
    std::vector<std::string_view> words_;
};

std::string lower(std::string_view word) {
    std::string text(word);
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
}

using Values = MatrixHeader::Values;

// Comments in front of the sizes, which are read several times.
const ReadLimit header_limit{4e6, "the sizes must stand before that; leave out comments and empty lines"};

// Reads the first line: "%%MatrixMarket matrix FORMAT VALUES SYMMETRY".
using Words = std::vector<std::string>;
MatrixHeader read_banner(LineReader& lines, const Words& formats, const Words& values,
                         const Words& symmetries) {
    const std::string wanted = fmt::format("%%MatrixMarket matrix {} {} {}", fmt::join(formats, "|"),
                                           fmt::join(values, "|"), fmt::join(symmetries, "|"));
    if (!lines.next(true)) lines.complain("the file is empty; it begins with \"" + wanted + "\"");
    if (lines.text().find('\0') != std::string::npos)
        lines.complain("no plain text (UTF-16, or compressed): must be ASCII or UTF-8 that begins with \"" +
                       wanted + "\"");
    const auto& words = lines.words();
    if (words.size() != 5 || words[0] != "%%MatrixMarket" || lower(words[1]) != "matrix")
        lines.complain(fmt::format("\"{}\": must be \"{}\"", lines.text().substr(0, 80), wanted));
    const auto require = [&](const char* what, std::size_t word, const Words& allowed) {
        if (std::ranges::find(allowed, lower(words[word])) == allowed.end())
            lines.complain(fmt::format("{} {}: must be {}", what, words[word], fmt::join(allowed, " or ")));
    };
    require("format", 2, formats);
    require("entries", 3, values);
    require("symmetry", 4, symmetries);
    const std::string word = lower(words[3]);
    return {.values = word == "real"      ? Values::real
                      : word == "integer" ? Values::integer
                                          : Values::pattern,
            .symmetric = lower(words[4]) == "symmetric"};
}

}  // namespace

MatrixHeader read_matrix_header(std::istream& file, const std::string& name) {
    if (!file) throw MatrixFileError(name + ": cannot be read");
    LineReader lines(file, name, 0, header_limit);
    MatrixHeader header =
        read_banner(lines, {"coordinate"}, {"real", "integer", "pattern"}, {"general", "symmetric"});
    const auto& words = lines.words();
    if (!lines.next()) lines.complain("the file ends before the line \"ROWS COLUMNS ENTRIES\"");
    if (words.size() != 3)
        lines.complain(fmt::format("{} words: must be the three of \"ROWS COLUMNS ENTRIES\"", words.size()));
    const std::int64_t most = std::numeric_limits<std::int64_t>::max() / 2;  // symmetric ones count twice
    header.rows = lines.integer(0, "rows", 1, most_rows);
    const std::int64_t columns = lines.integer(1, "columns", 1, most_rows);
    if (columns != header.rows)
        lines.complain(
            fmt::format("{} rows and {} columns: the matrix must be square", header.rows, columns));
    header.entries = lines.integer(2, "entries", 0, most);
    header.line = lines.line();
    return header;
}

void read_matrix_entries(std::istream& file, const std::string& name, const MatrixHeader& header,
                         const std::function<void(const FileEntry&)>& take, const ReadLimit& limit) {
    LineReader lines(file, name, header.line, limit);
    const bool pattern = header.values == Values::pattern;
    const std::size_t expected = pattern ? 2 : 3;
    std::int64_t entries = 0;
    for (; lines.next(); ++entries) {
        if (entries == header.entries)
            lines.complain(
                fmt::format("more than the {} entries that line {} announces", header.entries, header.line));
        if (lines.words().size() != expected)
            lines.complain(fmt::format("{} words: must be the {} of \"{}\"", lines.words().size(), expected,
                                       pattern ? "ROW COLUMN" : "ROW COLUMN VALUE"));
        FileEntry entry{.row = lines.integer(0, "row", 1, header.rows) - 1,
                        .column = lines.integer(1, "column", 1, header.rows) - 1,
                        .line = lines.line()};
        if (header.symmetric && entry.column > entry.row)
            lines.complain(
                fmt::format("entry ({},{}) of a symmetric matrix: must be on or below the diagonal",
                            entry.row + 1, entry.column + 1));
        if (!pattern) entry.value = lines.number(2, header.values == Values::integer);
        take(entry);
        if (!header.symmetric || entry.row == entry.column) continue;
        std::swap(entry.row, entry.column);
        take(entry);
    }
    if (entries < header.entries)
        lines.complain(fmt::format("the file ends after {} entries of {}", entries, header.entries));
}

MatrixHeader read_vector_header(std::istream& file, const std::string& name, std::int64_t rows) {
    if (!file) throw MatrixFileError(name + ": cannot be read");
    LineReader lines(file, name, 0, header_limit);
    MatrixHeader header = read_banner(lines, {"array"}, {"real", "integer"}, {"general"});
    if (!lines.next()) lines.complain("the file ends before the line \"ROWS COLUMNS\"");
    if (lines.words().size() != 2)
        lines.complain(fmt::format("{} words: must be the two of \"ROWS COLUMNS\"", lines.words().size()));
    header.rows = lines.integer(0, "rows", 1, most_rows);
    const std::int64_t columns = lines.integer(1, "columns", 1, most_rows);
    if (std::max(header.rows, columns) != rows || std::min(header.rows, columns) != 1)
        lines.complain(fmt::format("{} x {} values: must be {} x 1, a value for each row of the matrix",
                                   header.rows, columns, rows));
    header.rows = header.entries = rows;
    header.line = lines.line();
    return header;
}

void read_vector_values(std::istream& file, const std::string& name, const MatrixHeader& header,
                        const std::function<void(std::int64_t, double)>& take, const ReadLimit& limit) {
    LineReader lines(file, name, header.line, limit);
    std::int64_t row = 0;
    for (; lines.next(); ++row) {
        if (row == header.rows)
            lines.complain(
                fmt::format("more than the {} values that line {} announces", header.rows, header.line));
        if (lines.words().size() != 1)
            lines.complain(fmt::format("{} words: must be one value", lines.words().size()));
        take(row, lines.number(0, header.values == Values::integer));
    }
    if (row < header.rows)
        lines.complain(fmt::format("the file ends after {} values of {}", row, header.rows));
}

}  // namespace keel
