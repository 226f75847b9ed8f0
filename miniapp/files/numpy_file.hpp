#pragma once

// Arrays of float64 as numpy.save writes them (.npy, format 1 to 3), in either order of their axes.

#include <cstdint>
#include <functional>
#include <span>
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

// A file that is open. Ranks read their parts of it at the same time.
class NumpyFile {
  public:
    // Reads the header. Throws NumpyFileError where it is not that of an array of so many axes and this
    // shape, 1 beyond the axes, or where the file has not as many values.
    NumpyFile(const std::string& path, const Index& shape, std::size_t axes);
    ~NumpyFile();
    NumpyFile(const NumpyFile&) = delete;
    NumpyFile& operator=(const NumpyFile&) = delete;

    // Calls take(index of the first, values) for values that lie side by side in the file, until the part is
    // complete: along fast_axis(). Throws NumpyFileError.
    using Take = std::function<void(const Index& first, std::span<const double> values)>;
    void read(const Region& part, const Take& take) const;
    std::size_t fast_axis() const { return fast_axis_; }
    // The values of a part, the first axis fastest. Throws NumpyFileError.
    std::vector<double> values(const Region& part) const;

  private:
    int file_;
    std::int64_t begin_ = 0;  // the byte where the values begin
    std::size_t fast_axis_ = 0;
    std::array<std::int64_t, 3> strides_{};
};

// The file of a side: {side} in the name becomes x_low, x_high, y_low, ...
std::string file_of_side(std::string name, std::size_t direction, bool high);

}  // namespace keel
