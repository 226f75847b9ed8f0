// Matrices of run.mode = spmv: files good and bad, generators against their closed forms, orders of the rows.

#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <numbers>
#include <sstream>

#include "kernels/hash.hpp"
#include "miniapp/modes/spmv/matrix/file/file_rows.hpp"
#include "miniapp/modes/spmv/matrix/file/matrix_market.hpp"
#include "miniapp/modes/spmv/matrix/matrix_source.hpp"
#include "miniapp/modes/spmv/matrix/ordering.hpp"

namespace {

using namespace keel;
using Dense = std::map<std::pair<std::int64_t, std::int64_t>, double>;

// The entries, or what is wrong.
std::string read(const std::string& text, Dense& entries, const ReadLimit& limit = {}) {
    std::istringstream file(text);
    try {
        const MatrixHeader header = read_matrix_header(file, "m.mtx");
        const auto take = [&](const FileEntry& entry) { entries[{entry.row, entry.column}] += entry.value; };
        read_matrix_entries(file, "m.mtx", header, take, limit);
    } catch (const MatrixFileError& error) {
        return error.what();
    }
    return "";
}

const std::string real = "%%MatrixMarket matrix coordinate real general\n";

Dense dense(const GlobalRows& rows, std::int64_t first = 0) {
    Dense all;
    for (std::size_t r = 0; r < rows.rows(); ++r)
        for (auto e = static_cast<std::size_t>(rows.first[r]);
             e < static_cast<std::size_t>(rows.first[r + 1]); ++e)
            all[{first + static_cast<std::int64_t>(r), rows.columns[e]}] = rows.values[e];
    return all;
}

double entry_of(const Dense& a, std::int64_t row, std::int64_t column) {
    const auto found = a.find({row, column});
    return found == a.end() ? 0.0 : found->second;
}

Dense matrix(const MatrixChoice& p) {
    return dense(read_whole_matrix(p));
}
// A generated one as so many ranks have it.
Dense matrix(const MatrixChoice& p, int ranks) {
    const RowPartition partition{matrix_size(p).rows, ranks};
    Dense all;
    for (int rank = 0; rank < ranks; ++rank)
        all.merge(
            dense(read_matrix(p, partition, Communicator::virtual_rank(rank, ranks)), partition.first(rank)));
    return all;
}

// A file of this text for all ranks, as long as they have it. Collective.
class TextFile {
  public:
    explicit TextFile(const std::string& text) {
        const auto name = "keel_matrix_" + std::to_string(::getpid()) + ".mtx";
        path_ = Communicator::world().broadcast((std::filesystem::temp_directory_path() / name).string());
        if (Communicator::world().rank() == 0) std::ofstream(path_, std::ios::binary) << text;
        Communicator::world().barrier();
    }
    ~TextFile() {
        Communicator::world().barrier();
        if (Communicator::world().rank() == 0) std::filesystem::remove(path_);
    }
    TextFile(const TextFile&) = delete;
    TextFile& operator=(const TextFile&) = delete;
    std::string name() const { return path_.string(); }

  private:
    std::filesystem::path path_;
};

MatrixChoice generated(const std::string& name, std::int64_t rows, int row_entries) {
    MatrixChoice p;
    p.options.matrix = name;
    p.options.rows = rows;
    p.options.row_entries = row_entries;
    return p;
}

}  // namespace

TEST_CASE("good files are read: comments, blank lines, all kinds and symmetries, entries that repeat") {
    Dense a;
    CHECK(read(real + "% a comment\n\n3 3 4\n1 1 1.5\n\n2 3 -2e3\n% another\n3 1 +4\n2 3 1\n", a).empty());
    CHECK(a == Dense{{{0, 0}, 1.5}, {{1, 2}, -1999}, {{2, 0}, 4}});
    Dense b;
    CHECK(read("%%MatrixMarket MATRIX Coordinate Pattern Symmetric\r\n2 2 2\r\n1 1\r\n2 1\r\n", b).empty());
    CHECK(b == Dense{{{0, 0}, 1}, {{1, 0}, 1}, {{0, 1}, 1}});
    Dense c;
    CHECK(read("%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 -7\n", c).empty());
    CHECK(c == Dense{{{0, 0}, -7}});
    // As scripts and editors write them.
    Dense d;
    CHECK(read("\xef\xbb\xbf \n  %%MatrixMarket matrix coordinate real general \f\n  % indented\n\t% a tab\n "
               "\t2 2 3\n"
               "\f\n  1 1 1e-400\n\v% an entry\n\t2 2\f-1e-310\n 1 2 -1e-999\n",
               d)
              .empty());
    CHECK(d == Dense{{{0, 0}, 0}, {{1, 1}, -1e-310}, {{0, 1}, 0}});
    // As Fortran writes double precision.
    Dense e;
    CHECK(read(real + "2 2 3\n1 1 1.5D+03\n1 2 -.25d0\n2 2 2D-400\n", e).empty());
    CHECK(e == Dense{{{0, 0}, 1500}, {{0, 1}, -0.25}, {{1, 1}, 0}});
}

TEST_CASE("a vector is an array of one column or one row") {
    const std::string array = "%%MatrixMarket matrix array real general\n";
    const auto told = [](const std::string& text, std::vector<double>& values, double most_bytes = 1e9) {
        values.clear();
        std::istringstream file(text);
        try {
            const MatrixHeader header = read_vector_header(file, "b.mtx", 3);
            const auto take = [&](std::int64_t row, double value) {
                CHECK(row == static_cast<std::int64_t>(values.size()));
                values.push_back(value);
            };
            read_vector_values(file, "b.mtx", header, take, {most_bytes, "give fewer"});
        } catch (const MatrixFileError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    std::vector<double> values;
    CHECK(told(array + "% a comment\n\n3 1\n1.5\n\n-2D+03\n% another\n 1e-400 \n", values).empty());
    CHECK(values == std::vector<double>{1.5, -2000, 0});
    CHECK(told("%%MatrixMarket matrix ARRAY integer General\r\n1 3\r\n1\r\n2\r\n3", values).empty());
    CHECK(values == std::vector<double>{1, 2, 3});
    const std::vector<std::array<std::string, 2>> cases{
        {real + "3 1 1\n1 1 1\n", "b.mtx:1: format coordinate: must be array"},
        {"%%MatrixMarket matrix array complex general\n",
         "b.mtx:1: entries complex: must be real or integer"},
        {"%%MatrixMarket matrix array pattern general\n",
         "b.mtx:1: entries pattern: must be real or integer"},
        {"%%MatrixMarket matrix array real symmetric\n", "b.mtx:1: symmetry symmetric: must be general"},
        {array + "3 1 3\n", "b.mtx:2: 3 words: must be the two of"},
        {array + "3 2\n", "b.mtx:2: 3 x 2 values: must be 3 x 1, a value for each row of the matrix"},
        {array + "4 1\n", "b.mtx:2: 4 x 1 values: must be 3 x 1"},
        {array + "3 1\n1\n2\n", "b.mtx:5: the file ends after 2 values of 3"},
        {array + "3 1\n1\n2\n3\n\n4\n", "b.mtx:7: more than the 3 values that line 2 announces"},
        {array + "3 1\n1\n2 3\n", "b.mtx:4: 2 words: must be one value"},
        {array + "3 1\n1\nnan\n3\n", "b.mtx:4: value nan: must be a finite number"},
    };
    for (const auto& [text, expected] : cases) CHECK_THAT(told(text, values), Catch::StartsWith(expected));
    CHECK_THAT(told(array + "3 1\n1\n2\n" + std::string(100, '\n') + "3\n", values, 50),
               Catch::Contains("more than 50 B: give fewer"));
}

TEST_CASE("lines without an entry count against what may be read") {
    const auto told = [](const std::string& comments, const std::string& behind) {
        Dense ignored;
        return read(real + comments + "2 2 2\n1 1 1\n" + behind + "2 2 1\n", ignored,
                    {1000, "leave them out"});
    };
    CHECK(told(std::string(2000, '\n'), std::string(900, '\n')).empty());
    CHECK_THAT(told("", std::string(1100, '\n')), Catch::EndsWith("more than 1.0 kB: leave them out"));
    std::string comments;
    for (int n = 0; n < 200; ++n) comments += "% note\n";
    CHECK_THAT(told("", comments), Catch::EndsWith("more than 1.0 kB: leave them out"));
    CHECK_THAT(told(std::string(4'100'000, '\n'), ""),
               Catch::Contains("more than 4.0 MB: the sizes must stand before that"));
}

TEST_CASE("bad files are refused with the line and what is allowed") {
    const std::vector<std::array<std::string, 2>> cases{
        {"", "m.mtx:1: the file is empty"},
        {"3 3 1\n", "m.mtx:1: \"3 3 1\": must be \"%%MatrixMarket"},
        {"%%MatrixMarket matrix array real general\n", "m.mtx:1: format array: must be coordinate"},
        {"%%MatrixMarket matrix coordinate complex general\n",
         "m.mtx:1: entries complex: must be real or integer or pattern"},
        {"%%MatrixMarket matrix coordinate real hermitian\n",
         "m.mtx:1: symmetry hermitian: must be general or symmetric"},
        {"%%MatrixMarket matrix coordinate real Skew-Symmetric\n2 2 1\n2 1 1\n",
         "m.mtx:1: symmetry Skew-Symmetric: must be general or symmetric"},
        {real + "% only\n", "m.mtx:3: the file ends before the line"},
        {real + "%\n3 3\n", "m.mtx:3: 2 words: must be the three"},
        {real + "3 4 1\n", "m.mtx:2: 3 rows and 4 columns: the matrix must be square"},
        {real + "0 0 0\n", "m.mtx:2: rows = 0: must be an integer from 1"},
        {real + "2 2 2\n1 1 1\n", "m.mtx:4: the file ends after 1 entries of 2"},
        {real + "2 2 1\n1 1 1\n\n2 2 1\n", "m.mtx:5: more than the 1 entries that line 2 announces"},
        {real + "2 2 1\n3 1 1\n", "m.mtx:3: row = 3: must be an integer from 1 to 2"},
        {real + "2 2 1\n1 x 1\n", "m.mtx:3: column = x: must be an integer from 1 to 2"},
        {real + "2 2 1\n1 1 one\n", "m.mtx:3: value one: must be a finite number"},
        {real + "2 2 1\n1 1 inf\n", "m.mtx:3: value inf: must be a finite number"},
        {real + "2 2 1\n1 1 1e400\n", "m.mtx:3: value 1e400: must be a finite number"},
        {real + "2 2 1\n1 1 1e-400x\n", "m.mtx:3: value 1e-400x: must be a finite number"},
        {real + "2 2 1\n1 1 1D3D\n", "m.mtx:3: value 1D3D: must be a finite number"},
        {real + "2 2 1\n1 1 D3\n", "m.mtx:3: value D3: must be a finite number"},
        {real + "2 2 1\n1 \xc3\xa9\x1b 1\n", "m.mtx:3: column = \\xc3\\xa9\\x1b: must be an integer"},
        {"\x1f\x8b\x08\n", "m.mtx:1: \"\\x1f\\x8b\\x08\": must be \"%%MatrixMarket"},
        {std::string("\xff\xfe%\0%\0M\0\n", 9),
         "m.mtx:1: no plain text (UTF-16, or compressed): must be ASCII or UTF-8 that begins with \"%%M"},
        {real + "2 2 1\n1 1\n", "m.mtx:3: 2 words: must be the 3 of"},
        {"%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 1 0.5\n",
         "m.mtx:3: value 0.5: must be a finite integer"},
        {"%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 1\n",
         "m.mtx:3: entry (1,2) of a symmetric matrix: must be on or below the diagonal"},
        {real + "3 3 3\n1 1 1\n" + std::string(70000, ' ') + "\n4 4 1\n2 2 1\n",
         "m.mtx:4: a line longer than 65535 characters; the format allows 1024"}};
    for (const auto& [text, wanted] : cases) {
        Dense ignored;
        const std::string error = read(text, ignored);
        CAPTURE(text, error);
        CHECK(error.starts_with(wanted));
    }
}

TEST_CASE("generated entries are those of the closed forms, on any number of ranks") {
    for (const int ranks : {1, 3, 8}) {
        const Dense band = matrix(generated("banded", 9, 2), ranks);
        const Dense head = matrix(generated("arrow", 9, 1), ranks);
        for (std::int64_t r = 0; r < 9; ++r)
            for (std::int64_t c = 0; c < 9; ++c) {
                CHECK(entry_of(band, r, c) == (r == c ? 5.0 : std::abs(r - c) <= 2 ? -1.0 : 0.0));
                const double diagonal = r == 0 ? 9.0 : 2.0;
                CHECK(entry_of(head, r, c) == (r == c ? diagonal : r == 0 || c == 0 ? -1.0 : 0.0));
            }
        for (const auto& p :
             {generated("banded", 9, 2), generated("banded", 9, 20), generated("arrow", 9, 1)})
            CHECK(matrix_size(p).entries == static_cast<double>(matrix(p, ranks).size()));
    }
    // 11 rows are four elements of 3, the last of which lacks a row, on a square of 2 x 2.
    const Dense blocks = matrix(generated("dense_blocks", 11, 3), 2);
    for (std::int64_t r = 0; r < 11; ++r)
        for (std::int64_t c = 0; c < 11; ++c) {
            const bool across = r / 3 + c / 3 == 3;  // from corner to corner
            CHECK(entry_of(blocks, r, c) == (across ? 0.0 : r == c ? 14.0 : -1.0));
        }
    for (const std::int64_t rows : {1, 2, 3, 10, 11, 12, 13, 50, 100, 399, 401})
        for (const int block : {1, 3, 7, 20}) {
            const MatrixChoice p = generated("dense_blocks", rows, block);
            CHECK(matrix_size(p).entries == static_cast<double>(matrix(p, 3).size()));
        }
    CHECK(matrix_size(generated("dense_blocks", 1310720, 16)).entries / 1310720 ==
          Approx(79.78).epsilon(1e-4));
    // On 4 x 4 points, with the eigenvectors sin((p+1) pi (i+1) / 5) sin((s+1) pi (j+1) / 5), whose
    // values are the other matrix.
    constexpr std::int64_t n = 4;
    const Dense laplace = matrix(generated("stencil5", n * n, 1), 3);
    const Dense values = matrix(generated("diagonal", n * n, 1), 3);
    CHECK(laplace.size() == 64);
    CHECK(matrix_size(generated("stencil5", n * n, 1)).entries == 64);
    CHECK(values.size() == n * n);
    const auto wave = [](std::int64_t p, std::int64_t i) {
        return std::sin(static_cast<double>((p + 1) * (i + 1)) * std::numbers::pi / (n + 1));
    };
    for (std::int64_t mode = 0; mode < n * n; ++mode) {
        const auto x = [&](std::int64_t q) { return wave(mode / n, q / n) * wave(mode % n, q % n); };
        for (std::int64_t q = 0; q < n * n; ++q) {
            double product = 0;
            for (std::int64_t c = 0; c < n * n; ++c) product += entry_of(laplace, q, c) * x(c);
            CHECK(std::abs(product - values.at({mode, mode}) * x(q)) < 1e-13);
        }
    }
    for (const bool all : {false, true}) {
        MatrixChoice p = generated(all ? "stencil27" : "stencil7", 1, 1);
        p.cells = {3, 3, 6};
        const Dense A = matrix(p, 4);
        std::size_t entries = 0;
        for (int r = 0; r < 54; ++r)
            for (int c = 0; c < 54; ++c) {
                const int x = std::abs(r % 3 - c % 3);
                const int y = std::abs(r / 3 % 3 - c / 3 % 3);
                const int z = std::abs(r / 9 - c / 9);
                const bool near = all ? std::max({x, y, z}) <= 1 : x + y + z <= 1;
                if (!near) continue;
                ++entries;
                REQUIRE(A.at({r, c}) == (r == c ? (all ? 26.0 : 6.0) : -1.0));
            }
        CHECK(A.size() == entries);
        CHECK(matrix_size(p).entries == static_cast<double>(entries));
    }
}

TEST_CASE("elasticity is symmetric, and rigid modes are in the null space of what touches no wall") {
    MatrixChoice p = generated("elasticity", 1, 1);
    p.cells = {6, 5, 1};
    const Dense A = matrix(p, 3);
    CHECK(matrix_size(p).entries == static_cast<double>(A.size()));
    const NearNull modes = near_null(p, 0, 60).value();
    double trace = 0;
    for (std::int64_t r = 0; r < 60; ++r) {
        const std::int64_t x = r / 2 % 6, y = r / 2 / 6;
        std::array<double, 3> sums{};
        for (std::int64_t c = 0; c < 60; ++c) {
            const double value = entry_of(A, r, c);
            CHECK(entry_of(A, c, r) == value);
            for (std::size_t n = 0; n < 3; ++n)
                sums[n] += value * modes.values[static_cast<std::size_t>(c) * 3 + n];
        }
        const bool wall = x == 0 || x == 5 || y == 0 || y == 4;
        if (wall) CHECK(sums[static_cast<std::size_t>(r % 2)] > 0.1);
        for (const double sum : sums) CHECK((wall || std::abs(sum) < 1e-14));
        trace += A.at({r, r});
    }
    CHECK(trace == Approx(60 * 30.0 / 13));  // 4/3 (lambda + 3 mu) a row
    // Rows of a node stay on one rank.
    const RowPartition owners = owners_of_rows(p, virtual_topology(7, 2));
    for (int rank = 0; rank < 7; ++rank) CHECK(owners.first(rank) % 2 == 0);
}

TEST_CASE("convection is exact for what is constant or linear, and has no positive entry off its diagonal") {
    for (const Index& cells : {Index{6, 5, 1}, Index{5, 4, 3}}) {
        MatrixChoice p = generated("convection", 1, 1);
        p.cells = cells;
        p.options.peclet = 50;
        const Dense A = matrix(p, 3);
        CHECK(matrix_size(p).entries == static_cast<double>(A.size()));
        const auto place = [&](std::int64_t row) {
            return Index{static_cast<int>(row % cells[0]), static_cast<int>(row / cells[0] % cells[1]),
                         static_cast<int>(row / cells[0] / cells[1])};
        };
        const std::int64_t rows = cells[0] * cells[1] * cells[2];
        for (std::int64_t r = 0; r < rows; ++r) {
            const Index at = place(r);
            double ones = 0;
            std::array<double, 3> slopes{};  // sums of entries times cells' numbers in each direction
            for (std::int64_t c = 0; c < rows; ++c) {
                const double value = entry_of(A, r, c);
                CHECK((value > 0) == (r == c));
                ones += value;
                for (std::size_t d = 0; d < 3; ++d) slopes[d] += value * place(c)[d];
            }
            bool wall = false;
            for (std::size_t d = 0; d < (cells[2] == 1 ? 2U : 3U); ++d)
                wall = wall || at[d] == 0 || at[d] + 1 == cells[d];
            CHECK((ones > 1e-12) == wall);
            if (wall) continue;
            const double x = (at[0] + 0.5) / cells[0] * 2 - 1, y = (at[1] + 0.5) / cells[1] * 2 - 1;
            CHECK(std::abs(slopes[0] - 50.0 / cells[0] * 2 * y * (1 - x * x)) < 1e-12);
            CHECK(std::abs(slopes[1] + 50.0 / cells[0] * 2 * x * (1 - y * y)) < 1e-12);
            CHECK(std::abs(slopes[2]) < 1e-12);
        }
    }
}

TEST_CASE("the random matrix is symmetric, diagonally dominant and spread out") {
    const Dense A = matrix(generated("random", 500, 6), 3);
    std::map<std::int64_t, double> sums;
    std::size_t far = 0;
    for (const auto& [place, value] : A) {
        const auto& [r, c] = place;
        CHECK(A.at({c, r}) == value);
        if (r != c) CHECK(value == -1.0);
        sums[r] += value;
        if (std::abs(r - c) > 100) ++far;
    }
    for (const auto& [row, sum] : sums) CHECK(sum == 1.0);
    CHECK(sums.size() == 500);
    CHECK(A.size() > 500 * 6);
    CHECK(far > A.size() / 3);
}

TEST_CASE("a diagonal that no scaling can divide by is told with its line") {
    const auto told = [&](const std::string& entries, DiagonalScaling scaling) {
        const TextFile file(real + entries);
        const FileVerdict found = judge_file(Communicator::self(), file.name(), scaling);
        CHECK(found.complaint.empty());
        std::string text = found.not_scalable;
        if (const auto at = text.find(file.name()); at != text.npos)
            text.replace(at, file.name().size(), "m");
        return text.substr(0, text.find(','));
    };
    const std::string all = "6 6 7\n1 1 2\n2 2 -1\n3 3 5\n3 3 -5\n4 1 1\n5 5 1\n6 6 1\n";
    CHECK(told(all, DiagonalScaling::symmetric) == "m:4: the diagonal entry of row 2 is -1");
    CHECK(told(all, DiagonalScaling::right) == "m:6: the diagonal entry of row 3 is 0");
    CHECK(told(all, DiagonalScaling::none).empty());
    CHECK(told("2 2 2\n1 1 1\n2 1 1\n", DiagonalScaling::right) == "m: row 2 has no diagonal entry");
    CHECK(told("2 2 2\n2 2 1\n1 1 1\n", DiagonalScaling::symmetric).empty());
}

TEST_CASE("a vector's values are those of its rows in any order on any ranks", "[ranks]") {
    const Communicator all = Communicator::world();
    constexpr std::int64_t rows = 9001;  // rank 0 sends them in several messages
    std::string text = fmt::format("%%MatrixMarket matrix array integer general\n{} 1\n", rows);
    for (std::int64_t row = 0; row < rows; ++row) text += fmt::format("{}\n", 3 * row);
    const TextFile file(text);
    REQUIRE(why_no_values(file.name(), rows).empty());
    REQUIRE(judge_values(all, file.name(), rows, {}).empty());
    const RandomPermutation order(rows, 5);
    const RowPartition partition{rows, all.size()};
    const std::vector<double> mine = values_of_file(
        all, file.name(), [&](std::int64_t row) { return order(row); }, partition);
    REQUIRE(mine.size() == partition.size(all.rank()));
    for (std::size_t n = 0; n < mine.size(); ++n) {
        const std::int64_t row = partition.first(all.rank()) + static_cast<std::int64_t>(n);
        REQUIRE(mine[n] == 3.0 * static_cast<double>(order.inverse(row)));
    }
    CHECK_THAT(why_no_values(file.name(), rows + 1),
               Catch::Contains(":2: 9001 x 1 values: must be 9002 x 1"));
    CHECK_THAT(judge_values(all, file.name(), rows, {100, "give fewer"}), Catch::Contains("give fewer"));
}

// The rows are equal bit by bit, and so are complaints.
TEST_CASE("ranks that rank 0 sends a file's entries to have the rows that one finds alone", "[ranks]") {
    const Communicator all = Communicator::world();
    std::string lines;
    constexpr int rows = 200;  // rank 0 sends them in several messages
    std::int64_t entries = 0;
    const auto add = [&](std::int64_t row, std::int64_t column, double value) {
        lines += fmt::format("{} {} {}\n", row + 1, column + 1, value);
        ++entries;
    };
    // Most of them three times, where the order of the sum shows in the last bits, the last ones in rows of
    // the first rank.
    for (int times = 0; times < 3; ++times)
        for (int row = rows - 1; row >= 0; --row)
            for (int column = row; column >= 0; column -= 1 + row % 7)
                add(row, column,
                    uniform(5, static_cast<std::uint64_t>(100000 * times + rows * row + column)));
    const std::string size = fmt::format("{} {} {}\n", rows, rows, entries);
    const std::string few = "%%MatrixMarket matrix coordinate real general\n9 9 1\n9 1 3";
    for (const std::string& text :
         {"%%MatrixMarket matrix coordinate real general\n" + size + lines,
          "%%MatrixMarket matrix coordinate real symmetric\n" + size + lines, few}) {
        const TextFile file(text);
        for (const Ordering ordering : {Ordering::natural, Ordering::random, Ordering::rcm}) {
            MatrixChoice choice;
            choice.options.matrix = file.name();
            choice.options.ordering = ordering;
            const RowPartition partition{matrix_size(choice).rows, all.size()};
            const GlobalRows whole = read_whole_matrix(choice);
            const GlobalRows mine = read_matrix(choice, partition, all);
            REQUIRE(mine.rows() == partition.size(all.rank()));
            const auto first = static_cast<std::size_t>(partition.first(all.rank()));
            const auto begin = static_cast<std::size_t>(whole.first[first]);
            REQUIRE(begin + mine.values.size() <= whole.values.size());
            for (std::size_t r = 0; r <= mine.rows(); ++r)
                REQUIRE(mine.first[r] == whole.first[first + r] - whole.first[first]);
            for (std::size_t e = 0; e < mine.values.size(); ++e) {
                REQUIRE(mine.columns[e] == whole.columns[begin + e]);
                REQUIRE(mine.values[e] == whole.values[begin + e]);
            }
        }
    }
    const std::string head = "%%MatrixMarket matrix coordinate real general\n" + size;
    const std::string wrong = "7 x 1\n";
    for (const std::string& text :
         {head + lines + "1 1 1\n", head + lines.substr(0, lines.rfind('\n', lines.size() - 2)),
          head + wrong + lines + wrong, head + lines.substr(0, 3000) + wrong + lines, head + lines + wrong}) {
        const TextFile file(text);
        const std::string alone =
            judge_file(Communicator::self(), file.name(), DiagonalScaling::none).complaint;
        CHECK(alone.starts_with(file.name() + ":"));
        CHECK(judge_file(all, file.name(), DiagonalScaling::none).complaint == alone);
    }
    // The rank that has the row tells of it.
    const TextFile file("%%MatrixMarket matrix coordinate real general\n4 4 4\n4 4 1\n3 3 0\n2 2 1\n1 1 1\n");
    const RowPartition partition{4, all.size()};
    const FileVerdict found = judge_file(all, file.name(), DiagonalScaling::right);
    CHECK(found.complaint.empty());
    CHECK(found.not_scalable.empty() == !partition.owns(all.rank(), 2));
}

TEST_CASE("the random order is a permutation, told both ways") {
    for (const std::int64_t n : {1, 2, 3, 17, 1000}) {
        const RandomPermutation order(n, 5);
        std::vector<std::int64_t> seen;
        for (std::int64_t i = 0; i < n; ++i) {
            seen.push_back(order(i));
            CHECK(order.inverse(order(i)) == i);
        }
        std::ranges::sort(seen);
        for (std::int64_t i = 0; i < n; ++i) CHECK(seen[static_cast<std::size_t>(i)] == i);
    }
}

TEST_CASE("reverse Cuthill-McKee is a permutation that narrows a shuffled band, in every component") {
    const auto bandwidth = [](const Dense& a) {
        std::int64_t widest = 0;
        for (const auto& entry : a)
            widest = std::max(widest, std::abs(entry.first.first - entry.first.second));
        return widest;
    };
    MatrixChoice p = generated("banded", 300, 3);
    p.options.ordering = Ordering::random;
    const Dense shuffled = matrix(p, 2);
    CHECK(bandwidth(shuffled) > 200);

    // As a file, with a second component and a row of its own.
    std::string lines = "302 305 1\n305 302 1\n";
    for (const auto& [place, value] : shuffled)
        lines += fmt::format("{} {} {}\n", place.first + 1, place.second + 1, value);
    const TextFile file(real + fmt::format("310 310 {}\n", shuffled.size() + 2) + lines);
    p.options.matrix = file.name();
    p.options.ordering = Ordering::natural;
    const Dense natural = matrix(p);
    p.options.ordering = Ordering::rcm;
    const Dense narrow = matrix(p);
    p.options.ordering = Ordering::natural;
    const auto old = reverse_cuthill_mckee(read_whole_matrix(p));
    CHECK(bandwidth(narrow) <= 6);
    CHECK(narrow.size() == natural.size());
    auto sorted = old;
    std::ranges::sort(sorted);
    for (std::int64_t n = 0; n < 310; ++n) REQUIRE(sorted[static_cast<std::size_t>(n)] == n);
    for (const auto& [place, value] : narrow) {
        const auto at = [&](std::int64_t n) { return old[static_cast<std::size_t>(n)]; };
        CHECK(natural.at({at(place.first), at(place.second)}) == value);
    }
}
