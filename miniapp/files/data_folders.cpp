#include "miniapp/files/data_folders.hpp"

#include <cstdlib>
#include <system_error>

#include "build_info.hpp"

namespace keel {

namespace fs = std::filesystem;

std::vector<fs::path> data_folders() {
    std::vector<fs::path> folders{"inputs"};
    if (const char* given = std::getenv("KEEL_DATA")) folders.emplace_back(given);
    std::error_code unknown;
    const fs::path executable = fs::read_symlink("/proc/self/exe", unknown);
    if (!unknown) folders.push_back(executable.parent_path() / build_info::data_from_bin / "inputs");
    for (const char* data : {build_info::install_data, build_info::source_data})
        folders.push_back(fs::path(data) / "inputs");
    return folders;
}

fs::path found_file(const fs::path& name, const std::vector<fs::path>& folders) {
    std::error_code ignored;
    if (name.is_absolute() || fs::exists(name, ignored)) return name;
    for (const fs::path& folder : folders)
        if (fs::exists(folder / name, ignored)) return folder / name;
    return name;
}

}  // namespace keel
