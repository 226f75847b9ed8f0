#pragma once

// Matrix Market files (Boisvert, Pozo, Remington, "The Matrix Market exchange formats", NISTIR 5935, 1996):
// square matrices, coordinate format, real, integer or pattern entries, general or symmetric; and vectors,
// array format, real or integer.

#include <cstdint>
#include <functional>
#include <istream>
#include <limits>
#include <stdexcept>
#include <string>

namespace keel {

// A fault of the file, led by "NAME:LINE: ".
class MatrixFileError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// The bytes that may be read of a file, compressed or not, and what to do about more.
struct ReadLimit {
    double bytes = std::numeric_limits<double>::infinity();
    std::string remedy = {};
};

struct MatrixHeader {
    enum class Values { real, integer, pattern };

    Values values = Values::real;
    bool symmetric = false;  // entry (i,j) gives (j,i), too
    std::int64_t rows = 0;
    std::int64_t entries = 0;  // lines with an entry
    long line = 0;             // the line of the sizes

    friend bool operator==(const MatrixHeader&, const MatrixHeader&) = default;
};

// Reads the lines up to the sizes. `name` is that of the file, for complaints. Throws MatrixFileError.
MatrixHeader read_matrix_header(std::istream& file, const std::string& name);

struct FileEntry {
    std::int64_t row = 0;  // counted from 0
    std::int64_t column = 0;
    double value = 1;  // 1 in a pattern
    long line = 0;
};

// Reads all entries behind the header, in the order of the file. Of a symmetric matrix an entry beside the
// diagonal is taken twice, as (i,j) and (j,i). Throws MatrixFileError.
void read_matrix_entries(std::istream& file, const std::string& name, const MatrixHeader& header,
                         const std::function<void(const FileEntry&)>& take, const ReadLimit& limit = {});

// The same two of a vector, one column or one row of values, which `take` gets with their rows,
// counted from 0.
MatrixHeader read_vector_header(std::istream& file, const std::string& name, std::int64_t rows);
void read_vector_values(std::istream& file, const std::string& name, const MatrixHeader& header,
                        const std::function<void(std::int64_t, double)>& take, const ReadLimit& limit = {});

}  // namespace keel
