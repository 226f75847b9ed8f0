#pragma once

// Arrays of float64 as numpy.save writes them (.npy), in either order of their axes.

#include <array>
#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/layout/box.hpp"

namespace keel {

// A fault of the file and its remedy, to stand behind the file's name.
class NumpyFileError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// A file that is open; ranks read their parts of it at the same time.
class NumpyFile {
  public:
    // Throws NumpyFileError where it is no array of so many axes and this shape, which is 1 beyond them.
    NumpyFile(const std::string& path, const Index& shape, std::size_t axes);
    // The values of a part, the first axis fastest. Throws NumpyFileError.
    std::vector<double> read(const Region& part);

  private:
    std::ifstream file_;
    std::int64_t begin_ = 0;  // the byte where the values begin
    std::size_t fast_axis_ = 0;
    std::array<std::int64_t, 3> strides_{};
};

}  // namespace keel
