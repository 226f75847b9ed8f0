#pragma once

// Arrays as numpy.save writes them (.npy): float64, or float32, which is converted, in either order of their
// axes and bytes.

#include <array>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "kernels/layout/box.hpp"
#include "miniapp/files/numpy_header.hpp"

namespace keel {

// A file that is open; ranks read their parts of it at the same time.
class NumpyFile {
  public:
    // Throws NumpyFileError where it is no array of `axes` axes and this shape, which is 1 beyond them.
    NumpyFile(const std::string& path, const Index& shape, std::size_t axes);
    // The same of a vector of `values` values, whose other axes have length 1.
    NumpyFile(const std::string& path, std::int64_t values);

    // The values of a part, the first axis fastest. Throws NumpyFileError.
    std::vector<double> read(const Region& part);
    // `count` values side by side in the file. Throws NumpyFileError.
    std::vector<double> read(std::int64_t first, std::size_t count);

    bool is_single() const { return header_.value_bytes == sizeof(float); }

  private:
    explicit NumpyFile(const std::string& path);
    void check_size(std::int64_t values) const;

    std::ifstream file_;
    std::int64_t bytes_ = 0;  // the length of the file
    std::int64_t begin_ = 0;  // the byte where the values begin
    NumpyHeader header_;
    std::size_t fast_axis_ = 0;
    std::array<std::int64_t, 3> strides_{};
};

}  // namespace keel
