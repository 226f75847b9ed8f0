#include "miniapp/setup/machine/control_groups.hpp"

#include <algorithm>
#include <fstream>
#include <limits>

namespace keel {

std::vector<std::filesystem::path> control_groups(const std::string& controller,
                                                  const std::filesystem::path& root) {
    std::vector<std::filesystem::path> folders;
    std::ifstream groups(root / "proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {  // number:controllers:path
        const std::size_t first = line.find(':');
        const std::size_t second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
        const bool unified = controllers == ",,";
        if (!unified && controllers.find("," + controller + ",") == std::string::npos) continue;
        const std::filesystem::path mounted =
            root / (unified ? "sys/fs/cgroup" : "sys/fs/cgroup/" + controller);
        // A container may see its own group as the outermost, under a path of the host.
        std::filesystem::path group = std::filesystem::path(line.substr(second + 1)).relative_path();
        for (;; group = group.parent_path()) {
            folders.push_back(group.empty() ? mounted : mounted / group);
            if (group.empty()) break;
        }
    }
    return folders;
}

double memory_granted(const std::filesystem::path& root) {
    double least = std::numeric_limits<double>::infinity();
    for (const std::filesystem::path& group : control_groups("memory", root))
        for (const char* name : {"memory.max", "memory.limit_in_bytes"}) {
            double bytes = 0;  // "max" is no number
            if (std::ifstream(group / name) >> bytes) least = std::min(least, bytes);
        }
    return least;
}

}  // namespace keel
