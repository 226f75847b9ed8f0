#include "miniapp/files/numpy_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>

namespace keel {

NumpyFile::NumpyFile(const std::string& path, const Index& shape, std::size_t axes) {
    std::error_code error;
    const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(path, error));
    file_.rdbuf()->pubsetbuf(nullptr, 0);            // runs of values are read as they are
    if (!error) file_.open(path, std::ios::binary);  // a pipe would wait
    if (!file_.is_open())
        throw NumpyFileError(fmt::format("cannot be read{}; give the path of a file *.npy",
                                         error ? ": " + error.message() : ""));
    // Versions 2 and 3 of the format have two more bytes for the length of the header.
    std::string head(1 << 16, '\0');
    file_.read(head.data(), static_cast<std::streamsize>(head.size()));
    head.resize(static_cast<std::size_t>(file_.gcount()));
    file_.clear();
    const auto byte = [&](std::size_t n) { return std::int64_t{static_cast<unsigned char>(head[n])}; };
    const bool known = head.size() > 12 && head.starts_with("\x93NUMPY");
    const std::size_t text = known && byte(6) == 1 ? 10 : 12;
    if (known) begin_ = static_cast<std::int64_t>(text) + byte(8) + 256 * byte(9);
    std::array<char, 8> type{};
    std::array<char, 8> fortran{};
    std::array<char, 64> found{};
    if (!known || begin_ > bytes ||
        std::sscanf(head.c_str() + text, "{'descr': '%7[^']', 'fortran_order': %7[a-zA-Z], 'shape': (%63[^)]",
                    type.data(), fortran.data(), found.data()) != 3)
        throw NumpyFileError(R"(is no array of NumPy; write it by numpy.save("FILE.npy", array))");
    constexpr const char* float64 = std::endian::native == std::endian::little ? "<f8" : ">f8";
    if (std::string_view(type.data()) != float64)
        throw NumpyFileError(fmt::format("has values of type '{}', not '{}'; write array.astype('{}')",
                                         type.data(), float64, float64));
    const std::string wanted =
        fmt::format("{}{}", fmt::join(std::span(shape).first(axes), ", "), axes == 1 ? "," : "");
    if (found.data() != wanted)
        throw NumpyFileError(fmt::format("has the shape ({}), not ({}), an axis for each direction x, y, z",
                                         found.data(), wanted));
    const auto size = static_cast<std::int64_t>(sizeof(double) * product(shape));
    if (bytes - begin_ != size)
        throw NumpyFileError(
            fmt::format("has {} bytes of values, not {}; write it anew", bytes - begin_, size));
    if (std::string_view(fortran.data()) == "True") {
        strides_ = {1, shape[0], std::int64_t{shape[0]} * shape[1]};
    } else {
        fast_axis_ = axes - 1;
        strides_ = {std::int64_t{shape[1]} * shape[2], shape[2], 1};
    }
}

std::vector<double> NumpyFile::read(const Region& part) {
    const std::size_t f = fast_axis_;
    const std::size_t s = f == 1 ? 2 : 1;
    const std::size_t t = 3 - f - s;
    std::vector<double> values(part.cells());
    std::vector<double> run(static_cast<std::size_t>(part.size[f]));
    const std::array<std::size_t, 3> steps{1, static_cast<std::size_t>(part.size[0]),
                                           product({part.size[0], part.size[1], 1})};
    for (int b = 0; b < part.size[t]; ++b)
        for (int a = 0; a < part.size[s]; ++a) {
            const std::int64_t first =
                part.lo[f] * strides_[f] + (part.lo[s] + a) * strides_[s] + (part.lo[t] + b) * strides_[t];
            file_.seekg(begin_ + first * static_cast<std::int64_t>(sizeof(double)));
            file_.read(reinterpret_cast<char*>(run.data()),
                       static_cast<std::streamsize>(run.size() * sizeof(double)));
            if (!file_) throw NumpyFileError("cannot be read to its end; try again");
            double* value =
                &values[static_cast<std::size_t>(a) * steps[s] + static_cast<std::size_t>(b) * steps[t]];
            for (std::size_t n = 0; n < run.size(); ++n) value[n * steps[f]] = run[n];
        }
    return values;
}

}  // namespace keel
