#include "miniapp/files/output_files.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

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
    if (std::filesystem::is_regular_file(file, ignored))
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

}  // namespace keel
