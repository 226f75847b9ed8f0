#include "miniapp/deck/text/spelling.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

namespace keel {
namespace {

std::string lower(std::string word) {
    std::ranges::transform(word, word.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return word;
}

}  // namespace

std::size_t edits(const std::string& one, const std::string& other) {
    const std::string a = lower(one);
    const std::string b = lower(other);
    if (a.size() >= 3 && a != b && b.starts_with(a)) return 1;
    std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) {
        for (std::size_t j = 0; j <= b.size(); ++j) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            const std::size_t replaced = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, replaced});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
            }
        }
    }
    return d[a.size()][b.size()];
}

bool is_near(std::size_t edits, const std::string& word) {
    return edits <= (word.size() + 1) / 3;
}

std::optional<std::string> nearest(const std::string& word, std::span<const std::string> names) {
    const auto best =
        std::ranges::min_element(names, {}, [&](const std::string& name) { return edits(word, name); });
    if (best == names.end() || !is_near(edits(word, *best), word)) return {};
    return *best;
}

std::string did_you_mean(const std::string& word, std::span<const std::string> names) {
    const auto name = nearest(word, names);
    return name ? " (did you mean \"" + *name + "\"?)" : "";
}

}  // namespace keel
