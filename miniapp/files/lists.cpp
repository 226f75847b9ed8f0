#include "miniapp/files/lists.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>
#include <system_error>

#include "miniapp/deck/text/text.hpp"

namespace keel {
namespace {

// Hands the words of each line to `read`, which returns what is wrong with them, or nothing; returns the
// first complaint, with its line.
template <class Read>
std::string read_lines(const FileText& file, const Read& read) {
    if (!file.error.empty()) return file.error;
    std::istringstream lines(file.text);
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
        std::istringstream content(line.substr(0, line.find('#')));
        std::vector<std::string> words;
        for (std::string word; content >> word;) words.push_back(word);
        if (words.empty()) continue;
        if (const std::string wrong = read(words); !wrong.empty())
            return fmt::format("line {}: \"{}\"{}", number, shown(fmt::format("{}", fmt::join(words, " "))),
                               wrong);
    }
    return "";
}

// The word as an integer from 0 on, or -1.
int from_zero(const std::string& word) {
    int number = -1;
    const char* const end = word.data() + word.size();
    const auto [at, error] = std::from_chars(word.data(), end, number);
    return error == std::errc() && at == end ? number : -1;
}

}  // namespace

BoxFile parse_box_file(const FileText& file) {
    std::vector<Index> positions;
    const std::string error = read_lines(file, [&](const std::vector<std::string>& words) -> std::string {
        Index& position = positions.emplace_back(Index{-1, -1, -1});
        if (words.size() == 3) std::ranges::transform(words, position.begin(), from_zero);
        return std::ranges::min(position) >= 0 ? ""
                                               : " is no position; give three integers from 0 on, as 0 1 0";
    });
    return error.empty() ? BoxFile{positions, ""} : BoxFile{{}, error};
}

NodeMap parse_node_map(const FileText& file, int ranks) {
    NodeMap map;
    std::map<std::string, int> node_number;
    std::map<std::string, int> socket_number;
    const auto number = [](auto& numbers, const std::string& word) {
        return numbers.try_emplace(word, static_cast<int>(numbers.size())).first->second;
    };
    map.error = read_lines(file, [&](const std::vector<std::string>& words) -> std::string {
        if (words.size() > 1) return ": give one node a line";
        const std::string& label = words.front();
        const auto colon = label.find(':');
        const bool has_socket = colon != label.npos;
        if (colon == 0 || colon + 1 == label.size()) return ": give NODE, or NODE:SOCKET";
        if (!map.labels.empty() && has_socket == map.sockets.empty())
            return fmt::format(" {} socket, unlike those before; give all of them or none",
                               has_socket ? "has a" : "has no");
        map.labels.push_back(number(node_number, label.substr(0, colon)));
        if (has_socket) map.sockets.push_back(number(socket_number, label.substr(colon + 1)));
        return "";
    });
    if (!map.error.empty()) return {{}, {}, map.error};
    const auto given = static_cast<int>(map.labels.size());
    if (given < ranks)
        map.error = fmt::format("no node for rank {}: {} lines for {} ranks; add {}, or start {} ranks",
                                given, given, ranks, ranks - given, given);
    else if (given > ranks)
        map.error = fmt::format("{} lines for {} ranks; remove {}, or start {} ranks", given, ranks,
                                given - ranks, given);
    return map;
}

}  // namespace keel
