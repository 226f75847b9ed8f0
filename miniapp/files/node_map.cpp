#include "miniapp/files/node_map.hpp"

#include <fmt/format.h>

#include <map>
#include <sstream>

namespace keel {

NodeMap parse_node_map(const FileText& file, int ranks) {
    if (!file.error.empty()) return {{}, file.error};
    std::istringstream in(file.text);
    NodeMap result;
    std::map<std::string, int> number;
    std::string line;
    for (int at = 1; std::getline(in, line); ++at) {
        std::istringstream words(line.substr(0, line.find('#')));
        std::string label;
        std::string more;
        if (!(words >> label)) continue;
        if (words >> more)
            return {{}, fmt::format("line {}: \"{}\" after \"{}\": give one node a line", at, more, label)};
        result.labels.push_back(number.try_emplace(label, static_cast<int>(number.size())).first->second);
    }
    const auto given = static_cast<int>(result.labels.size());
    if (given < ranks)
        result.error = fmt::format("no node for rank {}: {} lines for {} ranks; add {}, or start {} ranks",
                                   given, given, ranks, ranks - given, given);
    else if (given > ranks)
        result.error = fmt::format("{} lines for {} ranks; remove {}, or start {} ranks", given, ranks,
                                   given - ranks, given);
    return result;
}

}  // namespace keel
