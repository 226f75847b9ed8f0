#pragma once

// The folders of files that users name without a path.

#include <filesystem>
#include <vector>

namespace keel {

// In this order: inputs/ of the working directory, the folder that the variable KEEL_DATA of the environment
// names, the data that is installed beside the executable, and the folder that it was compiled from.
std::vector<std::filesystem::path> data_folders();

// The file itself where there is one, else the first of that name in these folders, else the name as it is.
std::filesystem::path found_file(const std::filesystem::path& name,
                                 const std::vector<std::filesystem::path>& folders);

}  // namespace keel
