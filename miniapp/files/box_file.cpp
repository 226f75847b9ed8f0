#include "miniapp/files/box_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <system_error>

#include "miniapp/deck/text/text.hpp"

namespace keel {
namespace {

// The word as an integer from 0 on, or -1.
int from_zero(const std::string& word) {
    int number = -1;
    const char* const end = word.data() + word.size();
    const auto [at, error] = std::from_chars(word.data(), end, number);
    return error == std::errc() && at == end ? number : -1;
}

}  // namespace

BoxFile parse_box_file(const FileText& file) {
    if (!file.error.empty()) return {{}, file.error};
    std::istringstream in(file.text);
    BoxFile result;
    std::string line;
    for (int at = 1; std::getline(in, line); ++at) {
        const std::string content = trimmed(line.substr(0, line.find('#')));
        if (content.empty()) continue;
        std::istringstream words(content);
        Index position{-1, -1, -1};
        std::string word;
        for (int& number : position)
            if (words >> word) number = from_zero(word);
        if (*std::ranges::min_element(position) < 0 || words >> word)
            return {{},
                    fmt::format("line {}: \"{}\" is no position; give three integers from 0 on, as 0 1 0", at,
                                shown(content))};
        result.positions.push_back(position);
    }
    return result;
}

}  // namespace keel
