#include "miniapp/files/output_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace keel {

std::string reason_not_writable(const std::filesystem::path& file) {
    std::error_code ignored;
    if (std::filesystem::is_directory(file, ignored)) return "is a folder; give a file name";
    const auto folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
    if (!std::filesystem::is_directory(folder, ignored))
        return fmt::format("there is no folder {}; make it, or choose another", folder.string());
    const bool exists = std::filesystem::exists(file, ignored);
    if (::access(exists ? file.c_str() : folder.c_str(), exists ? W_OK : W_OK | X_OK) == 0) return "";
    return fmt::format("cannot be written: {}; choose another", std::generic_category().message(errno));
}

std::string reason_not_new(const std::filesystem::path& file, const std::filesystem::path& json) {
    std::error_code ignored;
    if (!json.empty() && is_same_file(file, json)) return "is output.json too; choose another";
    // A link that leads nowhere is there, too.
    if (!std::filesystem::is_directory(file, ignored) &&
        std::filesystem::exists(std::filesystem::symlink_status(file, ignored)))
        return "is there already; choose another, or remove it";
    return reason_not_writable(file);
}

bool is_same_file(const std::filesystem::path& a, const std::filesystem::path& b) {
    std::error_code ignored;
    const auto whole = [&](const std::filesystem::path& path) {
        return std::filesystem::weakly_canonical(std::filesystem::absolute(path, ignored), ignored);
    };
    return std::filesystem::equivalent(a, b, ignored) || whole(a) == whole(b);
}

std::string NewFile::create() {
    constexpr int how = O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    file_ = ::open(path_.c_str(), how | O_CREAT | O_EXCL, 0666);
    const int cause = errno;
    if (file_ < 0 && cause == EEXIST) file_ = ::open(path_.c_str(), how);
    struct stat status {};
    if (file_ >= 0 && fstat(file_, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0) {
        if (flock(file_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return "";
        close(std::exchange(file_, -1));
        return "another run is writing to it; wait for its end, or choose another";
    }
    if (file_ >= 0) close(std::exchange(file_, -1));
    const std::string reason = reason_not_new(path_, "");
    return reason.empty()
               ? fmt::format("cannot be created: {}; choose another", std::generic_category().message(cause))
               : reason;
}

bool NewFile::write(std::string_view text) {
    while (!text.empty()) {
        const ssize_t taken = ::write(file_, text.data(), text.size());
        if (taken < 0 && errno == EINTR) continue;
        if (taken < 0) break;
        text.remove_prefix(static_cast<std::size_t>(taken));
    }
    // Some file systems report a full disk only here.
    const bool whole = text.empty() && fsync(file_) == 0 && is_at_path();
    if (whole) close(std::exchange(file_, -1));
    remove();
    return whole;
}

// Whether no other process has removed or replaced it.
bool NewFile::is_at_path() const {
    struct stat made {
    }, there{};
    return fstat(file_, &made) == 0 && lstat(path_.c_str(), &there) == 0 && made.st_dev == there.st_dev &&
           made.st_ino == there.st_ino;
}

void NewFile::remove() {
    if (file_ < 0) return;
    if (is_at_path()) unlink(path_.c_str());
    close(std::exchange(file_, -1));
}

}  // namespace keel
