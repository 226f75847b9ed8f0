#pragma once

// The words by which users know the values of an enumeration. They stand beside it, in its order:
//
//     enum class Smoother { gsrb, jacobi };
//     constexpr auto names_of(Smoother) {
//         return std::array{"gsrb", "jacobi"};
//     }
//
// after which name(Smoother::jacobi), words_of<Smoother>() and named<Smoother>("jacobi") are known. C++17,
// for device compilers.

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace keel {

template <class Enum>
constexpr auto name(Enum value) -> typename decltype(names_of(value))::value_type {
    const auto words = names_of(value);
    const auto n = static_cast<std::size_t>(value);
    return n < words.size() ? words[n] : "?";
}

// All words, and all values.
template <class Enum>
std::vector<std::string> words_of() {
    const auto words = names_of(Enum{});
    return {words.begin(), words.end()};
}
template <class Enum>
std::vector<Enum> values_of() {
    std::vector<Enum> values;
    for (std::size_t n = 0; n < names_of(Enum{}).size(); ++n) values.push_back(static_cast<Enum>(n));
    return values;
}

// Nothing where no value has that word.
template <class Enum>
std::optional<Enum> named(std::string_view word) {
    const auto words = names_of(Enum{});
    const auto found = std::find(words.begin(), words.end(), word);
    if (found == words.end()) return std::nullopt;
    return static_cast<Enum>(found - words.begin());
}

}  // namespace keel
