// Tables of reports: one declaration, two writers.

#include <catch2/catch.hpp>
#include <sstream>

#include "miniapp/report/tables/table.hpp"

namespace {

using namespace keel;

std::vector<std::string> lines_of(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

TEST_CASE("a table prints what its records hold, each value in its unit") {
    ReportTable table("Solves", "solve");
    table.add({{"solver", "cg", "solver"}, {"seconds", 0.25, "time", Unit::seconds}, {"norm", "|r|"}});
    table.add({{"solver", "ca_cg", "solver"}, {"seconds", Json(), "time", Unit::seconds}, {"norm", "|r|"}});
    CHECK(lines_of(table.print()) ==
          std::vector<std::string>{"Solves", "solver      time", "cg      250.0 ms", "ca_cg          -"});
    const std::vector<std::string> records = lines_of(table.to_json());
    REQUIRE(records.size() == 2);
    const Json first = Json::parse(records[0]);
    CHECK(first["record"] == "solve");
    CHECK(first["seconds"] == 0.25);
    CHECK(first["norm"] == "|r|");
    CHECK(Json::parse(records[1])["seconds"].is_null());
    CHECK(table.rows().size() == 2);
}

TEST_CASE("the kind of all numbers is in the title, different kinds are in the headings") {
    ReportTable counts("Counts");
    counts.add({{"", "a", "what"}, {"", 3, "messages", Unit::count, Kind::counted}});
    CHECK(lines_of(counts.print())[0] == "Counts, counted");
    counts.add({{"", "b", "what"},
                {"", 4, "messages", Unit::count, Kind::counted},
                {"", 1e-6, "time", Unit::microseconds, Kind::predicted}});
    CHECK(lines_of(counts.print()) == std::vector<std::string>{"Counts", "      messages       time",
                                                               "what   counted  predicted", "a            3",
                                                               "b            4       1.00"});
}

TEST_CASE("rows of zeros and columns that hold nothing are not printed but recorded") {
    ReportTable table("", "row");
    table.add({{"level", 0, "level"}, {"messages", 2, "messages"}, {"late", Json(), "late"}});
    table.add({{"level", 1, "level"}, {"messages", 0, "messages"}, {"late", Json(), "late"}});
    CHECK(lines_of(table.print()) == std::vector<std::string>{"level  messages", "    0         2"});
    CHECK(lines_of(table.to_json()).size() == 2);
    ReportTable zeros("Nothing");
    zeros.add({{"", "a", "what"}, {"", 0, "messages"}});
    CHECK(zeros.print().empty());
}

TEST_CASE("a wide table is cut in parts of at most 100 columns that begin with its keys, between groups") {
    ReportTable table("Wide", "", 2);
    Row row{{"", "a name of a certain length", "name"}, {"", 7, "level"}};
    for (const char* const group : {"first", "second", "third"})
        for (const char* const number : {"messages", "all-reduces"})
            row.emplace_back("", 12345678, std::string(group) + "\n" + number);
    table.add(row);
    const std::vector<std::string> lines = lines_of(table.print());
    REQUIRE(lines.size() == 1 + 3 + 1 + 3);
    for (const std::string& line : lines) CHECK(line.size() <= 100);
    for (const std::size_t part : {3u, 7u})
        CHECK(lines[part].starts_with("a name of a certain length      7"));
    CHECK(lines[1].ends_with("second       second"));
    CHECK(lines[5].ends_with("third        third"));
}

TEST_CASE("words in the last column are broken, not cut off") {
    ReportTable table("");
    std::string words;
    for (int n = 0; n < 40; ++n) words += "word ";
    table.add({{"", 1, "cycle"}, {"", words + "end", "what happened"}});
    const std::vector<std::string> lines = lines_of(table.print());
    REQUIRE(lines.size() > 2);
    for (const std::string& line : lines) CHECK(line.size() <= 100);
    CHECK(lines.back().ends_with("end"));
    CHECK(lines[2].starts_with("       word"));
}

TEST_CASE("a pivot has a row for each value of one field, a column for each of another") {
    ReportTable table("Times");
    const auto add = [&](const char* kind, int bytes, double seconds) {
        table.add({{"class", kind}, {"bytes", bytes, "bytes"}, {"seconds", seconds, "time", Unit::seconds}});
    };
    add("node", 8, 1);
    add("node", 16, 2);
    add("off_node", 4, 3);
    add("off_node", 16, 4);

    const ReportTable pivot = table.pivot("bytes", "class", "seconds");
    CHECK(lines_of(pivot.print()) == std::vector<std::string>{"Times", "bytes     node  off_node",
                                                              "    4            3.000 s", "    8  1.000 s",
                                                              "   16  2.000 s   4.000 s"});
}

}  // namespace
