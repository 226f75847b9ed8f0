#include "miniapp/files/numpy_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <charconv>
#include <string_view>
#include <system_error>

namespace keel {
namespace {

constexpr const char* float64 = std::endian::native == std::endian::little ? "'<f8'" : "'>f8'";

// As many bytes of the file as there are from this place on, at most `size`.
std::size_t read_bytes(int file, void* to, std::size_t size, std::int64_t from) {
    std::size_t done = 0;
    while (done < size) {
        const ssize_t read =
            ::pread(file, static_cast<char*>(to) + done, size - done, from + static_cast<std::int64_t>(done));
        if (read < 0 && errno == EINTR) continue;
        if (read < 0)
            throw NumpyFileError(
                fmt::format("cannot be read: {}; give a file", std::generic_category().message(errno)));
        if (read == 0) break;
        done += static_cast<std::size_t>(read);
    }
    return done;
}

// The header's text, a Python dictionary, and the place behind it.
struct Header {
    std::string text;
    std::int64_t end = 0;

    // The text from the value of a key on; empty where there is no such key.
    std::string_view behind(std::string_view key) const {
        const auto at = text.find(fmt::format("'{}':", key));
        if (at == text.npos) return {};
        const auto value = text.find_first_not_of(' ', at + key.size() + 3);
        return value == text.npos ? std::string_view() : std::string_view(text).substr(value);
    }
    // "(4, 4, 8)" as numbers.
    std::vector<std::int64_t> shape() const {
        const std::string_view all = behind("shape");
        std::string_view list = all.substr(0, all.find(')'));
        std::vector<std::int64_t> numbers;
        for (auto at = list.find_first_of("0123456789"); at != list.npos;
             at = list.find_first_of("0123456789")) {
            list.remove_prefix(at);
            std::int64_t number = 0;
            const auto read = std::from_chars(list.data(), list.data() + list.size(), number);
            numbers.push_back(read.ec == std::errc() ? number : -1);
            list.remove_prefix(static_cast<std::size_t>(read.ptr - list.data()));
        }
        return numbers;
    }
};

Header read_header(int file) {
    constexpr std::size_t longest = 1 << 16;
    std::string text(longest, '\0');
    text.resize(read_bytes(file, text.data(), longest, 0));
    const auto byte = [&](std::size_t n) { return std::size_t{static_cast<unsigned char>(text[n])}; };
    const bool known = text.size() >= 12 && text.starts_with("\x93NUMPY") && byte(6) >= 1 && byte(6) <= 3;
    const std::size_t begin = known && byte(6) == 1 ? 10 : 12;
    const std::size_t length = known ? byte(8) + 256 * byte(9) : 0;
    if (!known || begin + length > text.size() || (begin == 12 && byte(10) + byte(11) > 0))
        throw NumpyFileError(R"(is no array of NumPy; write it by numpy.save("FILE.npy", array))");
    return {text.substr(begin, length), static_cast<std::int64_t>(begin + length)};
}

}  // namespace

NumpyFile::NumpyFile(const std::string& path, const Index& shape, std::size_t axes)
    : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    struct stat found {};
    if (file_ < 0 || ::fstat(file_, &found) != 0) {
        const std::string why = std::generic_category().message(errno);
        if (file_ >= 0) ::close(file_);
        throw NumpyFileError(fmt::format("cannot be read: {}; give the path of a file *.npy", why));
    }
    try {
        if (!S_ISREG(found.st_mode))
            throw NumpyFileError("is a folder or a device; give the path of a file *.npy");
        const Header header = read_header(file_);
        const std::string_view type = header.behind("descr");
        if (!type.starts_with(float64))
            throw NumpyFileError(fmt::format("has values of type {}, not {}; write array.astype({})",
                                             type.substr(0, type.find(',')), float64, float64));
        const std::vector<std::int64_t> wanted(shape.begin(), shape.begin() + static_cast<long>(axes));
        if (header.shape() != wanted)
            throw NumpyFileError(
                fmt::format("has the shape ({}), not ({}), an axis for each direction x, y, z",
                            fmt::join(header.shape(), ", "), fmt::join(wanted, ", ")));
        begin_ = header.end;
        const auto bytes = static_cast<std::int64_t>(sizeof(double) * product(shape));
        if (found.st_size - begin_ != bytes)
            throw NumpyFileError(
                fmt::format("has {} bytes of values, not {}; write it anew", found.st_size - begin_, bytes));
        if (header.behind("fortran_order").starts_with("True")) {
            strides_ = {1, shape[0], std::int64_t{shape[0]} * shape[1]};
        } else {
            fast_axis_ = axes - 1;
            strides_ = {std::int64_t{shape[1]} * shape[2], shape[2], 1};
        }
    } catch (...) {
        ::close(file_);
        throw;
    }
}

NumpyFile::~NumpyFile() {
    ::close(file_);
}

void NumpyFile::read(const Region& part, const Take& take) const {
    const std::size_t f = fast_axis_;
    const std::size_t s = f == 1 ? 2 : 1;
    const std::size_t t = 3 - f - s;
    std::vector<double> run(static_cast<std::size_t>(part.size[f]));
    Index at = part.lo;
    for (at[t] = part.lo[t]; at[t] < part.lo[t] + part.size[t]; ++at[t])
        for (at[s] = part.lo[s]; at[s] < part.lo[s] + part.size[s]; ++at[s]) {
            const std::int64_t place = at[0] * strides_[0] + at[1] * strides_[1] + at[2] * strides_[2];
            const std::size_t bytes = run.size() * sizeof(double);
            if (read_bytes(file_, run.data(), bytes,
                           begin_ + place * static_cast<std::int64_t>(sizeof(double))) != bytes)
                throw NumpyFileError("is shorter than before: somebody writes to it; try again");
            take(at, run);
        }
}

std::vector<double> NumpyFile::values(const Region& part) const {
    std::vector<double> values(part.cells());
    const std::size_t steps[] = {
        1, static_cast<std::size_t>(part.size[0]),
        static_cast<std::size_t>(part.size[0]) * static_cast<std::size_t>(part.size[1])};
    read(part, [&](const Index& first, std::span<const double> run) {
        std::size_t place = 0;
        for (std::size_t d = 0; d < 3; ++d)
            place += static_cast<std::size_t>(first[d] - part.lo[d]) * steps[d];
        for (const double value : run) {
            values[place] = value;
            place += steps[fast_axis_];
        }
    });
    return values;
}

std::string file_of_side(std::string name, std::size_t direction, bool high) {
    constexpr std::string_view word = "{side}";
    if (const auto at = name.find(word); at != name.npos)
        name.replace(at, word.size(), fmt::format("{}_{}", "xyz"[direction], high ? "high" : "low"));
    return name;
}

}  // namespace keel
