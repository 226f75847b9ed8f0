#include "miniapp/files/numpy_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <span>
#include <system_error>

namespace keel {
namespace {

constexpr std::size_t longest_header = 1 << 16;

// The value at these bytes, which are swapped if their order is the other one.
template <class T>
double number_at(const char* bytes, bool swapped) {
    std::array<char, sizeof(T)> copy{};
    std::memcpy(copy.data(), bytes, sizeof(T));
    if (swapped) std::ranges::reverse(copy);
    return static_cast<double>(std::bit_cast<T>(copy));
}

}  // namespace

NumpyFile::NumpyFile(const std::string& path) {
    std::error_code error;
    bytes_ = static_cast<std::int64_t>(std::filesystem::file_size(path, error));
    file_.rdbuf()->pubsetbuf(nullptr, 0);            // runs of values are read as they are
    if (!error) file_.open(path, std::ios::binary);  // a pipe would wait
    if (!file_.is_open())
        throw NumpyFileError(fmt::format("cannot be read{}; give the path of a file *.npy",
                                         error ? ": " + error.message() : ""));
    std::string head(12 + longest_header, '\0');
    file_.read(head.data(), static_cast<std::streamsize>(head.size()));
    head.resize(static_cast<std::size_t>(file_.gcount()));
    file_.clear();
    const auto byte = [&](std::size_t n) { return std::int64_t{static_cast<unsigned char>(head[n])}; };
    const bool is_array = head.size() > 12 && head.starts_with("\x93NUMPY");
    if (is_array && (byte(6) < 1 || byte(6) > 3 || byte(7) != 0))
        throw NumpyFileError(
            fmt::format("has version {}.{} of NumPy's format, not 1.0, 2.0 or 3.0; write it by numpy.save",
                        byte(6), byte(7)));
    // Versions 2 and 3 have two more bytes for the length of the header.
    const std::size_t text = is_array && byte(6) == 1 ? 10 : 12;
    std::int64_t length = 0;
    for (std::size_t n = text; is_array && n > 8; --n) length = 256 * length + byte(n - 1);
    begin_ = static_cast<std::int64_t>(text) + length;
    if (!is_array || begin_ > std::min(bytes_, static_cast<std::int64_t>(head.size())))
        throw NumpyFileError(R"(is no array of NumPy; write it by numpy.save("FILE.npy", array))");
    header_ = parse_numpy_header(std::string_view(head).substr(text, static_cast<std::size_t>(length)));
}

NumpyFile::NumpyFile(const std::string& path, const Index& shape, std::size_t axes) : NumpyFile(path) {
    const auto sizes = std::span(shape).first(axes);
    const std::vector<std::int64_t> wanted(sizes.begin(), sizes.end());
    if (header_.shape != wanted)
        throw NumpyFileError(fmt::format("has the shape {}, not {}, an axis for each direction x, y, z",
                                         shape_text(header_.shape), shape_text(wanted)));
    check_size(static_cast<std::int64_t>(product(shape)));
    if (header_.fortran_order) {
        strides_ = {1, shape[0], std::int64_t{shape[0]} * shape[1]};
    } else {
        fast_axis_ = axes - 1;
        strides_ = {std::int64_t{shape[1]} * shape[2], shape[2], 1};
    }
}

NumpyFile::NumpyFile(const std::string& path, std::int64_t values) : NumpyFile(path) {
    std::vector<std::int64_t> others = header_.shape;
    std::erase(others, 1);
    const bool fits = values == 1 ? others.empty() && !header_.shape.empty() : others == std::vector{values};
    if (!fits)
        throw NumpyFileError(fmt::format("has the shape {}, not ({},), a value for each row of the matrix",
                                         shape_text(header_.shape), values));
    check_size(values);
}

void NumpyFile::check_size(std::int64_t values) const {
    const std::int64_t size = values * static_cast<std::int64_t>(header_.value_bytes);
    if (bytes_ - begin_ != size)
        throw NumpyFileError(
            fmt::format("has {} bytes of values, not {}; write it anew", bytes_ - begin_, size));
}

std::vector<double> NumpyFile::read(std::int64_t first, std::size_t count) {
    const std::size_t width = header_.value_bytes;
    std::vector<char> bytes(count * width);
    file_.seekg(begin_ + first * static_cast<std::int64_t>(width));
    file_.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!file_) throw NumpyFileError("cannot be read to its end; try again");
    std::vector<double> values(count);
    for (std::size_t n = 0; n < count; ++n) {
        const char* const value = &bytes[n * width];
        values[n] = is_single() ? number_at<float>(value, header_.swapped)
                                : number_at<double>(value, header_.swapped);
    }
    return values;
}

std::vector<double> NumpyFile::read(const Region& part) {
    const std::size_t f = fast_axis_;
    const std::size_t s = f == 1 ? 2 : 1;
    const std::size_t t = 3 - f - s;
    std::vector<double> values(part.cells());
    const std::array<std::size_t, 3> steps{1, static_cast<std::size_t>(part.size[0]),
                                           product({part.size[0], part.size[1], 1})};
    for (int b = 0; b < part.size[t]; ++b)
        for (int a = 0; a < part.size[s]; ++a) {
            const std::int64_t first =
                part.lo[f] * strides_[f] + (part.lo[s] + a) * strides_[s] + (part.lo[t] + b) * strides_[t];
            const std::vector<double> run = read(first, static_cast<std::size_t>(part.size[f]));
            double* value =
                &values[static_cast<std::size_t>(a) * steps[s] + static_cast<std::size_t>(b) * steps[t]];
            for (std::size_t n = 0; n < run.size(); ++n) value[n * steps[f]] = run[n];
        }
    return values;
}

}  // namespace keel
