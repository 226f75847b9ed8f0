#pragma once

// Matrix Market files (Boisvert, Pozo, Remington, "The Matrix Market exchange formats", NISTIR 5935, 1996): square
// matrices, coordinate format, real, integer or pattern entries, general or symmetric.

#include <cstdint>
#include <functional>
#include <istream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

namespace keel {

// What is wrong with the file, led by "NAME:LINE: ".
class MatrixFileError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

struct MatrixHeader {
    enum class Values { real, integer, pattern };

    Values values = Values::real;
    bool symmetric = false;
    std::int64_t rows = 0;
    std::int64_t entries = 0;  // in the file
    long line = 0;             // the last one read
    std::int64_t bytes = 0;    // up to its end
    std::uint64_t digest = 0;  // of these
};

// The lines up to the sizes. `name` is that of the file, for complaints. Throws MatrixFileError, as the next.
MatrixHeader read_matrix_header(std::istream& file, const std::string& name);

struct FileEntry {
    std::int64_t row = 0;  // from 0 on
    std::int64_t column = 0;
    double value = 1;  // a pattern's
    long line = 0;
};

// Lines of a file behind its header, from the first byte of one on: those that begin before `end`.
struct FileLines {
    std::int64_t begin = 0;
    std::int64_t end = 0;
};
// What stands before them in the file.
struct FileBefore {
    long lines = 0;
    std::int64_t entries = 0;
};

// What there is of some lines. Those that differ have different digests, but for bad luck of 1 in 2^64.
struct LineCount {
    long lines = 0;
    std::int64_t entries = 0;
    std::uint64_t digest = 0;
};
// Counts up to a line that is too long, if there is one.
LineCount count_lines(std::istream& file, const FileLines& lines);

class LineReader;

// The entries of some lines in their order, those of a symmetric matrix as they stand there.
class EntryReader {
  public:
    // All entries behind the header, or those of some lines. The file must outlive this object.
    EntryReader(std::istream& file, const std::string& name, const MatrixHeader& header);
    EntryReader(std::istream& file, const std::string& name, const MatrixHeader& header,
                const FileLines& lines, const FileBefore& before);
    ~EntryReader();

    // Nothing behind the last line. Throws MatrixFileError, as the next.
    std::optional<FileEntry> next();
    // Behind the last entry of the file: that no entry is missing.
    void finish() const;

    std::uint64_t digest() const;  // of the lines so far

  private:
    MatrixHeader header_;
    std::unique_ptr<LineReader> lines_;
    std::int64_t entries_;  // so far, with those before
};

// All entries behind the header, in the order of the file; those of a symmetric matrix beside the diagonal twice, (i,j) and
// (j,i).
void read_matrix_entries(std::istream& file, const std::string& name, const MatrixHeader& header,
                         const std::function<void(const FileEntry&)>& take);
// The one entry, or the two.
void take_mirrored(const MatrixHeader& header, FileEntry entry,
                   const std::function<void(const FileEntry&)>& take);

}  // namespace keel
