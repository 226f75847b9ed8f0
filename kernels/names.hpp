#pragma once

// The words by which users know the values of an enumeration. They stand once, beside it:
//
//     enum class Smoother { gsrb, jacobi };
//     constexpr auto names_of(Smoother) {
//         return std::array{Named<Smoother>{Smoother::gsrb, "gsrb"},
//                           Named<Smoother>{Smoother::jacobi, "jacobi"}};
//     }
//
// after which name(Smoother::jacobi), words_of<Smoother>() and named<Smoother>("jacobi") are known. C++17,
// for device compilers.

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace keel {

template <class Enum>
struct Named {
    Enum value;
    const char* word;
};

template <class Enum>
constexpr auto name(Enum value) -> decltype(names_of(value).front().word) {
    for (const auto& one : names_of(value))
        if (one.value == value) return one.word;
    return "?";
}

// All words, in the order in which they stand.
template <class Enum>
std::vector<std::string> words_of() {
    std::vector<std::string> words;
    for (const auto& one : names_of(Enum{})) words.push_back(one.word);
    return words;
}

// Nothing where no value has that word.
template <class Enum>
std::optional<Enum> named(std::string_view word) {
    for (const auto& one : names_of(Enum{}))
        if (word == one.word) return one.value;
    return std::nullopt;
}

}  // namespace keel
