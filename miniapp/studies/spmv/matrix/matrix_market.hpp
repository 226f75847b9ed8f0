#pragma once

// Matrix Market files (Boisvert, Pozo, Remington, "The Matrix Market exchange formats", NISTIR 5935, 1996): square
// matrices, coordinate format, real, integer or pattern entries, general or symmetric.

#include <cstdint>
#include <functional>
#include <istream>
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
};

// The lines up to the sizes. `name` is that of the file, for complaints. Throws MatrixFileError, as the next.
MatrixHeader read_matrix_header(std::istream& file, const std::string& name);

struct FileEntry {
    std::int64_t row = 0;  // from 0 on
    std::int64_t column = 0;
    double value = 1;  // a pattern's
    long line = 0;
};

// All entries behind the header, in the order of the file; those of a symmetric matrix beside the diagonal twice, (i,j) and
// (j,i).
void read_matrix_entries(std::istream& file, const std::string& name, const MatrixHeader& header,
                         const std::function<void(const FileEntry&)>& take);

}  // namespace keel
