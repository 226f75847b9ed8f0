#include "miniapp/report/tables/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "kernels/check.hpp"
#include "kernels/timing/clock.hpp"
#include "miniapp/deck/text/text.hpp"
#include "miniapp/report/records/records.hpp"

namespace keel {
namespace {

constexpr std::size_t gap = 2;  // between columns

struct PrintedColumn {
    std::string name;   // unique in a table
    std::string group;  // the first of several lines of the heading
    std::vector<std::string> heading;
    bool words = false;  // printed from the left; numbers are printed from the right
    Kind kind = Kind::none;
    std::vector<std::string> cells = {};

    std::size_t width() const {
        std::size_t most = 0;
        for (const auto* lines : {&heading, &cells})
            for (const std::string& line : *lines) most = std::max(most, line.size());
        return most;
    }
    bool says_anything() const {
        return std::ranges::any_of(cells, [](const auto& text) { return !text.empty() && text != "-"; });
    }
};

std::vector<std::string> lines_of(std::string_view text) {
    std::vector<std::string> lines;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        lines.emplace_back(text.substr(at, end - at));
        at = end + 1;
    }
    return lines;
}

std::string word_of(Kind kind) {
    switch (kind) {
        case Kind::measured:
            return simulated() ? "simulated" : "measured";
        case Kind::counted:
            return "counted";
        case Kind::predicted:
            return "predicted";
        case Kind::none:
            break;
    }
    return "";
}

std::string number_text(double value, Unit unit) {
    switch (unit) {
        case Unit::seconds:
            return seconds_text(value);
        case Unit::microseconds:
            return fmt::format("{:.2f}", 1e6 * value);
        case Unit::bytes:
            return bytes_text(value);
        case Unit::ratio:
            return fmt::format("{:.2f}", value);
        case Unit::percent:
            return fmt::format("{:.0f}%", 100 * value);
        case Unit::scientific:
            return fmt::format("{:.5e}", value);
        case Unit::count:
            return fmt::format("{:.0f}", value);
        case Unit::none:
            break;
    }
    return fmt::format("{:g}", value);
}

std::string text_of(const Cell& cell) {
    if (cell.has_text) return cell.text;
    if (cell.value.is_string()) return cell.value.get<std::string>();
    if (cell.value.is_boolean()) return cell.value.get<bool>() ? "yes" : "no";
    if (cell.value.is_number_integer() && cell.unit == Unit::none) return cell.value.dump();
    return cell.value.is_number() ? number_text(cell.value.get<double>(), cell.unit) : "-";
}

bool is_zero(const Cell& cell) {
    if (cell.has_text) return cell.text.empty();
    return cell.value.is_number() && cell.unit != Unit::scientific && cell.value.get<double>() == 0;
}

// Whether all numbers that the row prints after its keys are zero.
bool is_zero(const Row& row, std::size_t keys) {
    std::size_t printed = 0;
    bool has_zeros = false;
    for (const Cell& cell : row) {
        if (cell.heading.empty() || ++printed <= keys) continue;
        if (cell.value.is_null() && !cell.has_text) continue;  // unknown
        if (!is_zero(cell)) return false;
        has_zeros = true;
    }
    return has_zeros;
}

// All columns that rows have, in the order in which they first come; rows that print only zeros are left out.
std::vector<PrintedColumn> columns_of(const std::vector<Row>& rows, std::size_t keys) {
    std::vector<PrintedColumn> columns;
    std::size_t printed = 0;
    for (const Row& row : rows) {
        if (is_zero(row, keys)) continue;
        for (const Cell& cell : row) {
            if (cell.heading.empty()) continue;
            const std::string name = cell.field + "\n" + cell.heading;
            auto column = std::ranges::find(columns, name, &PrintedColumn::name);
            if (column == columns.end()) {
                const std::size_t end = cell.heading.find('\n');
                const std::string group = end == std::string::npos ? "" : cell.heading.substr(0, end);
                column = columns.insert(column, {name, group, lines_of(cell.heading), false, cell.kind});
            }
            column->words = column->words || (cell.value.is_string() && cell.unit == Unit::none);
            column->cells.resize(printed);
            column->cells.push_back(text_of(cell));
        }
        ++printed;
    }
    for (PrintedColumn& column : columns) column.cells.resize(printed);
    std::size_t n = 0;
    std::erase_if(columns,
                  [&](const PrintedColumn& column) { return n++ >= keys && !column.says_anything(); });
    return columns;
}

// The kind of all numbers, or a line of headings where they differ.
std::string name_kinds(std::vector<PrintedColumn>& columns) {
    Kind common = Kind::none;
    bool differ = false;
    for (const PrintedColumn& column : columns) {
        if (column.kind == Kind::none) continue;
        differ = differ || (common != Kind::none && common != column.kind);
        common = column.kind;
    }
    if (!differ) return word_of(common);
    for (PrintedColumn& column : columns)
        if (column.kind != Kind::none) column.heading.push_back(word_of(column.kind));
    return "";
}

// Headings end on the same line.
void level_headings(std::vector<PrintedColumn>& columns) {
    std::size_t most = 0;
    for (const PrintedColumn& column : columns) most = std::max(most, column.heading.size());
    for (PrintedColumn& column : columns)
        column.heading.insert(column.heading.begin(), most - column.heading.size(), "");
}

using Strip = std::vector<const PrintedColumn*>;  // columns that are printed side by side

// The first column of the part that holds column n, if that group of columns is to stay together.
std::size_t first_of_group(const std::vector<PrintedColumn>& columns, std::size_t n, std::size_t least) {
    while (n > least && !columns[n].group.empty() && columns[n - 1].group == columns[n].group) --n;
    return n;
}

// As many columns as fit beside the keys; a last one of words does not count, for its lines are broken.
std::vector<Strip> strips_of(const std::vector<PrintedColumn>& columns, std::size_t keys) {
    const auto needed = [&](std::size_t n) {
        const bool breaks = n + 1 == columns.size() && columns[n].words;
        return breaks ? columns[n].heading.back().size() : columns[n].width();
    };
    Strip of_keys;
    std::size_t width_of_keys = 0;
    for (std::size_t n = 0; n < keys; ++n) {
        width_of_keys += columns[n].width() + gap;
        of_keys.push_back(&columns[n]);
    }
    std::vector<Strip> strips;
    for (std::size_t first = keys; first < columns.size();) {
        std::size_t end = first;
        for (std::size_t width = width_of_keys; end < columns.size(); ++end) {
            if (width + needed(end) > line_width && end > first) break;
            width += columns[end].width() + gap;
        }
        if (end < columns.size())
            if (const std::size_t of_group = first_of_group(columns, end, first); of_group > first)
                end = of_group;
        Strip& strip = strips.emplace_back(of_keys);
        for (; first < end; ++first) strip.push_back(&columns[first]);
    }
    return strips;
}

std::string text_line(const Strip& strip, std::vector<std::string> PrintedColumn::*lines, std::size_t n) {
    std::string line;
    std::size_t indent = 0;
    for (const PrintedColumn* const column : strip) {
        const std::string& text = (column->*lines)[n];
        indent = line.size();
        line += column->words ? fmt::format("{:<{}}", text, column->width())
                              : fmt::format("{:>{}}", text, column->width());
        line.append(gap, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return wrapped(line, indent) + "\n";
}

const Cell& cell_of(const Row& row, const std::string& field) {
    const auto found = std::ranges::find(row, field, &Cell::field);
    check(found != row.end(), "a row of a table has no such field");
    return *found;
}

}  // namespace

Json fields_of(const Row& row) {
    Json fields = Json::object();
    for (const Cell& cell : row)
        if (!cell.field.empty()) fields[cell.field] = cell.value;
    return fields;
}

std::string ReportTable::print() const {
    std::vector<PrintedColumn> columns = columns_of(rows_, keys_);
    if (columns.size() <= keys_) return "";
    const std::string kind = name_kinds(columns);
    level_headings(columns);
    std::string text;
    if (!title_.empty()) text = wrapped(title_ + (kind.empty() ? "" : ", " + kind), 4) + "\n";
    bool first = true;
    for (const Strip& strip : strips_of(columns, keys_)) {
        if (!first) text += "\n";
        first = false;
        for (std::size_t n = 0; n < columns.front().heading.size(); ++n)
            if (const std::string line = text_line(strip, &PrintedColumn::heading, n); line != "\n")
                text += line;
        for (std::size_t n = 0; n < columns.front().cells.size(); ++n)
            text += text_line(strip, &PrintedColumn::cells, n);
    }
    return text;
}

std::string ReportTable::to_markdown() const {
    const std::vector<PrintedColumn> columns = columns_of(rows_, 0);
    std::string text;
    const auto add_line = [&](const auto& text_of_column) {
        text += "|";
        for (const PrintedColumn& column : columns) text += " " + text_of_column(column) + " |";
        text += "\n";
    };
    add_line([](const PrintedColumn& column) { return fmt::format("{}", fmt::join(column.heading, " ")); });
    add_line([](const PrintedColumn&) { return std::string("---"); });
    for (std::size_t n = 0; n < columns.front().cells.size(); ++n)
        add_line([&](const PrintedColumn& column) {
            return &column == columns.data() ? "`" + column.cells[n] + "`" : column.cells[n];
        });
    return text;
}

ReportTable ReportTable::pivot(const std::string& down, const std::string& across,
                               const std::string& number) const {
    std::vector<std::string> headings;
    for (const Row& row : rows_) {
        const std::string heading = text_of(cell_of(row, across));
        if (std::ranges::find(headings, heading) == headings.end()) headings.push_back(heading);
    }
    ReportTable table(title_);
    std::vector<Row>& rows = table.rows_;
    for (const Row& row : rows_) {
        const Cell& key = cell_of(row, down);
        auto found =
            std::ranges::find_if(rows, [&](const Row& one) { return one.front().value == key.value; });
        if (found == rows.end()) {
            found = rows.insert(found, Row{key});
            for (const std::string& heading : headings) found->emplace_back("", Json(), heading, "");
        }
        Cell cell = cell_of(row, number);
        cell.field.clear();
        cell.heading = text_of(cell_of(row, across));
        *std::ranges::find(*found, cell.heading, &Cell::heading) = cell;
    }
    // Names stay in the order in which they come.
    std::ranges::stable_sort(rows, [](const Row& a, const Row& b) {
        return a.front().value.is_number() && a.front().value < b.front().value;
    });
    return table;
}

Json ReportTable::rows() const {
    Json all = Json::array();
    for (const Row& row : rows_) all.push_back(fields_of(row));
    return all;
}

std::string ReportTable::to_json() const {
    std::string lines;
    for (const Row& row : rows_) {
        Json record{{"record", record_}};
        record.update(fields_of(row));
        lines += line_of(record);
    }
    return lines;
}

}  // namespace keel
