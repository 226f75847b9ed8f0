#include "miniapp/front/record_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "miniapp/deck/text/text.hpp"

namespace keel {
namespace {

// The bytes of a regular file; nothing of a pipe or a device.
std::optional<off_t> size_of(int file) {
    struct stat status {};
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return {};
    return status.st_size;
}

// Whether a killed run left half a line. A file that cannot be read is taken to end well.
bool ends_in_half_line(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    const off_t size = size_of(file).value_or(0);
    char last = '\n';
    const bool half = size > 0 && pread(file, &last, 1, size - 1) == 1 && last != '\n';
    if (file >= 0) close(file);
    return half;
}

// Writes all of the text or, to a regular file, nothing. A full disk takes a part, and reports the cause when
// the rest is tried. That part is removed, unless another process wrote behind it, for want of locks.
bool written(int file, std::string_view text) {
    const auto before = size_of(file);
    const std::size_t all = text.size();
    while (!text.empty()) {
        const ssize_t taken = write(file, text.data(), text.size());
        if (taken < 0 && errno == EINTR) continue;
        if (taken < 0) break;
        text.remove_prefix(static_cast<std::size_t>(taken));
    }
    if (text.empty()) return true;
    const int cause = errno;
    if (before && size_of(file) == *before + static_cast<off_t>(all - text.size()) &&
        ftruncate(file, *before) != 0)
        fmt::print(stderr, "output.json ends in half a line\n");
    errno = cause;
    return false;
}

}  // namespace

RecordFile::RecordFile(std::string path) : path_(std::move(path)) {
    // With this a limit of file sizes, also of standard output, is an error of write(), as a full disk is.
    std::signal(SIGXFSZ, SIG_IGN);
}

RecordFile::~RecordFile() {
    if (file_ >= 0) close(file_);
}

std::string RecordFile::open() {
    if (path_.empty()) return "";
    const auto complaint = [&](const std::string& what) {
        return fmt::format("output.json = \"{}\": {}", path_, what);
    };
    // To write alone: else the writer of a pipe is a reader too, and waits for ever when the other has gone.
    file_ = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (file_ < 0)
        return complaint(
            fmt::format("cannot be written: {}; choose another", std::generic_category().message(errno)));
    if (!size_of(file_))
        std::signal(SIGPIPE, SIG_IGN);  // a reader that has gone is an error of write(), too
    else if (flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return complaint("another run is writing to it; wait for its end, or choose another");
    if (size_of(file_) && ends_in_half_line(path_)) line_end_ = "\n";
    return "";
}

void RecordFile::append(const std::string& lines) {
    if (path_.empty() || failed_ || lines.empty()) return;
    // A stream would write when its buffer is full, in the middle of a line.
    note(written(file_, std::exchange(line_end_, "") + lines));
}

bool RecordFile::finish() {
    if (file_ >= 0) note(close(std::exchange(file_, -1)) == 0);
    return !failed_;
}

void RecordFile::note(bool well) {
    if (!well && !failed_)
        fmt::print(stderr, "output.json = \"{}\": could not be written: {}\n",
                   shown(path_, std::string::npos), std::generic_category().message(errno));
    failed_ = failed_ || !well;
}

}  // namespace keel
