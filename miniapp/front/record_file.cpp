#include "miniapp/front/record_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

namespace keel {
namespace {

// The bytes of a regular file; nothing of a pipe or a device.
std::optional<off_t> size_of(int file) {
    struct stat status {};
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return {};
    return status.st_size;
}

// As a disk that was full leaves it. What may not be read is taken to end well.
bool ends_in_half_line(int file) {
    const off_t size = size_of(file).value_or(0);
    char last = '\n';
    return size > 0 && pread(file, &last, 1, size - 1) == 1 && last != '\n';
}

// In one write where the system takes it whole; what a full disk has no room for is tried again, for the cause.
bool written(int file, std::string_view text) {
    while (!text.empty()) {
        const ssize_t taken = write(file, text.data(), text.size());
        if (taken < 0 && errno == EINTR) continue;
        if (taken < 0) return false;
        text.remove_prefix(static_cast<std::size_t>(taken));
    }
    return true;
}

}  // namespace

RecordFile::RecordFile(std::string path) : path_(std::move(path)) {}

RecordFile::~RecordFile() {
    if (file_ >= 0) close(file_);
}

std::string RecordFile::open() {
    if (path_.empty()) return "";
    const auto complaint = [&](const std::string& what) {
        return fmt::format("output.json = \"{}\": {}", path_, what);
    };
    const int flags = O_APPEND | O_CREAT | O_CLOEXEC;
    file_ = ::open(path_.c_str(), O_RDWR | flags, 0666);
    if (file_ < 0)
        file_ = ::open(path_.c_str(), O_WRONLY | flags, 0666);  // a pipe, a file that is not to be read
    if (file_ < 0)
        return complaint(
            fmt::format("cannot be written: {}; choose another", std::generic_category().message(errno)));
    if (size_of(file_) && flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return complaint(
            "another run is writing to it; wait for its end, or choose another, such as one with {id} in its "
            "name");
    return "";
}

void RecordFile::append(const std::string& lines) {
    if (path_.empty() || failed_ || lines.empty()) return;
    // A stream would write when its buffer is full, in the middle of a line.
    failed_ = !written(file_, ends_in_half_line(file_) ? "\n" + lines : lines);
    if (failed_)
        fmt::print(stderr, "output.json = \"{}\": could not be written: {}\n", path_,
                   std::generic_category().message(errno));
}

}  // namespace keel
