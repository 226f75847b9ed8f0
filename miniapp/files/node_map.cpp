#include "miniapp/files/node_map.hpp"

#include <fmt/format.h>

#include <map>
#include <sstream>

namespace keel {

NodeMap parse_node_map(const FileText& file, int ranks) {
    if (!file.error.empty()) return {{}, {}, file.error};
    std::istringstream in(file.text);
    NodeMap result;
    std::map<std::string, int> node_number;
    std::map<std::string, int> socket_number;
    const auto number = [](auto& numbers, const std::string& word) {
        return numbers.try_emplace(word, static_cast<int>(numbers.size())).first->second;
    };
    std::string line;
    for (int at = 1; std::getline(in, line); ++at) {
        std::istringstream words(line.substr(0, line.find('#')));
        std::string label;
        std::string more;
        if (!(words >> label)) continue;
        if (words >> more)
            return {
                {}, {}, fmt::format("line {}: \"{}\" after \"{}\": give one node a line", at, more, label)};
        const auto colon = label.find(':');
        const bool has_socket = colon != label.npos;
        if (colon == 0 || colon + 1 == label.size())
            return {{}, {}, fmt::format("line {}: \"{}\": give NODE, or NODE:SOCKET", at, label)};
        if (!result.labels.empty() && has_socket == result.sockets.empty())
            return {{},
                    {},
                    fmt::format("line {}: \"{}\" {} socket, unlike those before; give all of them or none",
                                at, label, has_socket ? "has a" : "has no")};
        result.labels.push_back(number(node_number, label.substr(0, colon)));
        if (has_socket) result.sockets.push_back(number(socket_number, label.substr(colon + 1)));
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
