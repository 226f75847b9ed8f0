#pragma once

// The kinds of values that keys take: how each is read, checked and printed.

#include <cstdint>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "miniapp/deck/parameters.hpp"

namespace keel {

// A value of a deck, or a key's value. As JSON it is also valid TOML.
using DeckValue = nlohmann::ordered_json;

// The value on one line; bytes that are no UTF-8, which names of files may have, become U+FFFD.
std::string json_text(const DeckValue& value);

// A word that a value may be.
struct Word {
    std::string name;
    std::string meaning = {};  // empty where the name says enough
};

std::vector<Word> words_named(const std::vector<std::string>& names);

// A value that was read, or why it cannot be: what is allowed, and the nearest valid word.
template <class T>
struct Parsed {
    std::optional<T> value = {};
    std::string complaint = {};
};

template <class T>
struct ValueKind {
    std::string allowed;  // "from 1 to 1024", "V, F"
    std::function<Parsed<T>(const DeckValue&)> parse;
    std::function<DeckValue(const T&)> print = [](const T& value) { return DeckValue(value); };
    std::vector<Word> words = {};  // all words that the value may be
    bool is_text = false;          // needs no quotes on the command line
};

// The numbers that a real key may be: finite, and within the ends; an open end is itself excluded.
struct Interval {
    double lowest = -std::numeric_limits<double>::infinity();
    double highest = std::numeric_limits<double>::infinity();
    bool lowest_open = true;
    bool highest_open = true;

    bool contains(double x) const;
};

// A word that stands for an integer, and is printed in its place.
struct NumberWord {
    std::string word;
    std::int64_t number;
};

ValueKind<std::int64_t> integer_kind(std::int64_t lowest, std::int64_t highest,
                                     const std::vector<NumberWord>& words);
ValueKind<double> real_kind(const Interval& allowed);
ValueKind<bool> flag_kind();
ValueKind<std::string> choice_kind(const std::string& key, const std::vector<Word>& words);
ValueKind<std::string> text_kind();                        // any bytes, as paths have them
ValueKind<std::string> label_kind();                       // UTF-8
ValueKind<std::vector<std::string>> list_kind();           // any number of texts
ValueKind<Index> triple_kind(int lowest);                  // three integers, one per direction
ValueKind<Triple> real_triple_kind(const Interval& each);  // three numbers, one per direction
// The boxes of a domain: a word, any number of positions, or the path of a file.
ValueKind<std::tuple<DomainShape, BoxesList>> shape_kind(const std::string& key);
// A word of an enumeration, whose last one, `file`, stands for the path of a file.
template <class Enum>
ValueKind<std::tuple<Enum, std::string>> word_or_file_kind(const std::string& key,
                                                           const std::vector<std::string>& endings);
// The eigenvalues that a method assumes: a word, or the ends of an interval from 0 on.
ValueKind<std::tuple<SpectrumFrom, double, double>> spectrum_kind(const std::string& key);
// One word, or three; each may be two, "low/high".
ValueKind<Boundaries> boundaries_kind(const std::string& key);

// A value as the user would write it, fit to be shown: at most `most` characters of it.
std::string shown_value(const DeckValue& value, std::size_t most = 80);

std::string quoted(const std::string& text);

}  // namespace keel
