#pragma once

// The header of a .npy file: a Python dictionary of a type, an order of axes and a shape
// (numpy.lib.format, versions 1 to 3).

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace keel {

// A fault of the file and its remedy, to stand behind the file's name, in printable ASCII.
class NumpyFileError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

struct NumpyHeader {
    std::size_t value_bytes = sizeof(double);  // or of float
    bool swapped = false;                      // the other byte order than this machine's
    bool fortran_order = false;                // the first index is the fastest
    std::vector<std::int64_t> shape = {};
};

// Reads float64 and float32: keys in any order, blanks or none, quotes of either kind. Throws NumpyFileError.
NumpyHeader parse_numpy_header(std::string_view text);

// "(4, 4)", "(8,)"
std::string shape_text(const std::vector<std::int64_t>& shape);

}  // namespace keel
