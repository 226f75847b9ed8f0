#include "miniapp/front/record_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

namespace keel {
namespace {

// As a disk that was full leaves it. `file` must be open for reading, too.
bool ends_in_half_line(int file) {
    struct stat status {};
    char last = '\n';
    return fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0 &&
           pread(file, &last, 1, status.st_size - 1) == 1 && last != '\n';
}

// The file for appending, its last line whole; readable where that is allowed.
int open_to_append(const char* path) {
    const int flags = O_APPEND | O_CREAT | O_CLOEXEC;
    const int file = open(path, O_RDWR | flags, 0666);
    if (file < 0) return open(path, O_WRONLY | flags, 0666);
    if (ends_in_half_line(file) && write(file, "\n", 1) != 1) {
        close(file);
        return -1;
    }
    return file;
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

void RecordFile::append(const std::string& lines) {
    if (path_.empty() || failed_ || lines.empty()) return;
    if (file_ < 0) file_ = open_to_append(path_.c_str());
    // A stream would write when its buffer is full, in the middle of a line.
    failed_ = file_ < 0 || !written(file_, lines);
    if (failed_)
        fmt::print(stderr, "output.json = \"{}\": could not be written: {}\n", path_,
                   std::generic_category().message(errno));
}

}  // namespace keel
