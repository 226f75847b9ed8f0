#pragma once

// Tables of a report. A column is declared once, as name, unit, value and kind; the text that a user reads
// and the records that programs read are two writers of the same rows.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace keel {

using Json = nlohmann::ordered_json;

// How text shows a number. Records hold it in full precision, in seconds and bytes.
enum class Unit { none, count, seconds, microseconds, bytes, ratio, percent, scientific };

// The origin of a number. A measured one of a simulated run is printed as simulated.
enum class Kind { none, measured, counted, predicted };

// One value of a row: a field of the record, a column of the text, or both.
struct Cell {
    // A field that only the record has.
    Cell(std::string name, Json v) : field(std::move(name)), value(std::move(v)) {}
    // A column, and the field unless `name` is empty. Lines of the heading are parted by \n; null is printed
    // as "-".
    Cell(std::string name, Json v, std::string head, Unit u = Unit::none, Kind k = Kind::none)
        : field(std::move(name)), value(std::move(v)), heading(std::move(head)), unit(u), kind(k) {}
    // The same, printed as `shown`.
    Cell(std::string name, Json v, std::string head, std::string shown, Kind k = Kind::none)
        : field(std::move(name)),
          value(std::move(v)),
          heading(std::move(head)),
          text(std::move(shown)),
          has_text(true),
          kind(k) {}

    std::string field;
    Json value;
    std::string heading{};
    std::string text{};
    bool has_text = false;
    Unit unit = Unit::none;
    Kind kind = Kind::none;
};
using Row = std::vector<Cell>;

// The fields of a row, in their order.
Json fields_of(const Row& row);

class ReportTable {
  public:
    // The first `keys` columns name a row; they are printed again where a wide table is cut. `record` names
    // the records.
    explicit ReportTable(std::string title, std::string record = "", std::size_t keys = 1)
        : title_(std::move(title)), record_(std::move(record)), keys_(keys) {}

    void add(Row row) { rows_.push_back(std::move(row)); }
    bool empty() const { return rows_.empty(); }

    // The title and the columns, at most line_width wide: a wider table is cut in parts below each other.
    // Without rows that hold only zeros beside their keys and without columns that hold nothing. Empty if
    // nothing is left.
    std::string print() const;

    // The columns as a table of Markdown, the first as code.
    std::string to_markdown() const;

    // The same numbers side by side: a row for each value of the field `down`, a column for each of `across`,
    // which hold `number`.
    ReportTable pivot(const std::string& down, const std::string& across, const std::string& number) const;

    // The rows as objects, and as lines of records.
    Json rows() const;
    std::string to_json() const;

  private:
    std::string title_;
    std::string record_;
    std::size_t keys_;
    std::vector<Row> rows_;
};

}  // namespace keel
