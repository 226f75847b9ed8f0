#pragma once

// The keys of decks. `Table` lists every key once; reading decks, --help, --keys, the table in docs/ and the JSON of a run are
// all made from it.

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "miniapp/deck/parameters.hpp"

namespace keel {

// Reads and writes one value of a Parameters.
template <class T>
struct Access {
    std::function<T(const Parameters&)> get;
    std::function<void(Parameters&, const T&)> set;
};

// The numbers that a real key may be: finite, and within the ends; an open end is itself excluded.
struct Interval {
    double lowest = -std::numeric_limits<double>::infinity();
    double highest = std::numeric_limits<double>::infinity();
    bool lowest_open = true;
    bool highest_open = true;

    bool contains(double x) const;
};

// Boxes where there is no word.
struct WordOrBoxes {
    std::string word;
    BoxesList boxes = {};
};
// An interval where there is no word.
struct WordOrInterval {
    std::string word;
    std::array<double, 2> ends{};
};

// A word that stands for a number.
struct NumberWord {
    std::string word;
    std::int64_t number;
};

struct IntegerKey {
    Access<std::int64_t> value;
    std::int64_t lowest;
    std::int64_t highest;
    std::vector<NumberWord> words = {};  // written in place of their numbers
};
struct RealKey {
    Access<double> value;
    Interval allowed;
};
struct FlagKey {
    Access<bool> value;
};
struct ChoiceKey {  // one word of several
    Access<std::string> value;
    std::vector<std::string> names;
    std::vector<std::string> meanings = {};  // of each name; none where the names say enough
};
struct TextKey {
    Access<std::string> value;
    std::string allowed = "text";
};
struct ListKey {  // any number of texts
    Access<std::vector<std::string>> value;
};
struct TripleKey {  // three integers, one per direction
    Access<Index> value;
    int lowest;
};
struct RealTripleKey {  // three numbers, one per direction
    Access<Triple> value;
    Interval allowed;
};
struct ShapeKey {  // one word of several, any number of triples of integers from 0 on, or the path of a file
    Access<WordOrBoxes> value;
    std::vector<std::string> words;
};
struct IntervalKey {  // one word of several, or the two ends of an interval of numbers from 0 on
    Access<WordOrInterval> value;
    std::vector<std::string> words;
};
struct BoundariesKey {  // one word for all directions, or three; each may be two, "low/high"
    Access<std::array<std::string, 3>> value;
    std::vector<std::string> names;
};

// What another key must be for a key to play a part: a choice with one of these words, or a flag that is "true".
struct Condition {
    std::string key;
    std::vector<std::string> words;  // none: any but the others
    std::vector<std::string> others =
        {};  // words of the choice that will not do, where these are easier told
};
// "multigrid.smoother = jacobi", "bottom.solver other than smooth"
std::string text_of(const Condition& condition);

struct Key {
    std::string section;
    std::string name;
    std::string unit;     // empty: a pure number or a word
    std::string meaning;  // a phrase that stands alone, of at most 80 characters
    std::variant<IntegerKey, RealKey, FlagKey, ChoiceKey, TextKey, ListKey, TripleKey, RealTripleKey,
                 ShapeKey, IntervalKey, BoundariesKey>
        kind;
    std::vector<Condition> needs = {};  // all of them
    bool expert = false;                // for ablations and rare wishes: not among the common keys

    std::string full_name() const { return section + "." + name; }
};

// One key's value; dumped as JSON it is also valid TOML.
nlohmann::ordered_json value_of(const Key& key, const Parameters& parameters);

// Every key, in the order in which it is printed: section after section.
class Table {
  public:
    // Behind the keys of its section. Throws std::logic_error where the default is not one of the choices. The reference
    // is good until the next call.
    Key& add(Key key);

    std::span<const Key> keys() const { return keys_; }
    std::vector<std::string> sections() const;
    // Nothing there: a null pointer.
    const Key* find(std::string_view section, std::string_view name) const;
    const Key* find(std::string_view full_name) const;

  private:
    std::vector<Key> keys_;
};

// A word of a choice.
struct Word {
    std::string name;
    std::string meaning;
};

// The keys that modes share. The words of run.mode are given.
void add_common_keys(Table& table, const std::vector<Word>& modes);

}  // namespace keel
