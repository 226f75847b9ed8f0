#pragma once

// How keys are listed: a Section adds the members of one structure of options as keys of one section of the deck.

#include <algorithm>
#include <concepts>
#include <type_traits>
#include <utility>

#include "miniapp/deck/keys.hpp"

namespace keel {

struct IntegerRange {
    std::int64_t lowest;
    std::int64_t highest;
};
constexpr IntegerRange between(std::int64_t lowest, std::int64_t highest) {
    return {lowest, highest};
}
// Up to what the member can hold.
constexpr IntegerRange at_least(std::int64_t lowest) {
    return {lowest, std::numeric_limits<std::int64_t>::max()};
}

constexpr Interval above(double lowest) {
    return {.lowest = lowest};
}
constexpr Interval from(double lowest) {
    return {.lowest = lowest, .lowest_open = false};
}
constexpr Interval inside(double lowest, double highest) {
    return {.lowest = lowest, .highest = highest};
}

// Each function takes the key's name, the member, what is allowed, the meaning and, where the value has one, the unit.
template <class Options>
class Section {
  public:
    // `options` finds the structure in a Parameters.
    Section(Table& table, std::string name, Options Parameters::*options)
        : table_(table),
          name_(std::move(name)),
          write_([options](Parameters& p) -> Options& { return p.*options; }),
          read_([options](const Parameters& p) { return p.*options; }) {}
    // Those that one mode alone knows.
    Section(Table& table, std::string name, std::string mode)
        : table_(table),
          name_(std::move(name)),
          write_([](Parameters& p) -> Options& { return p.mode_options.of<Options>(); }),
          read_([](const Parameters& p) { return p.mode_options.of<Options>(); }),
          always_{{"run.mode", {std::move(mode)}}} {}
    // Those that some modes know.
    Section(Table& table, std::string name, std::vector<std::string> modes)
        : Section(table, std::move(name), std::string()) {
        always_ = {{"run.mode", std::move(modes)}};
    }

    // What the key added last needs of another one.
    Section& needs(std::string key, std::vector<std::string> words, std::vector<std::string> others = {}) {
        last_->needs.push_back({std::move(key), std::move(words), std::move(others)});
        return *this;
    }

    // The key added last is for experts.
    Section& expert() {
        last_->expert = true;
        return *this;
    }

    // Each key that is added from now on needs the choice added last to be a row that reads it.
    template <class Rows, class Reads>
    void each_needs_reader(const Rows& rows, const Reads& reads) {
        const std::string choice = last_->full_name();
        conditions_ = [=, &rows](const std::string& key) {
            Condition condition{choice, {}};
            std::vector<std::string> others;
            for (const auto& row : rows) (reads(row, key) ? condition.words : others).push_back(row.name);
            if (others.size() < condition.words.size()) condition.others = others;
            return condition;
        };
    }

    template <std::integral T>
    Section& integer(std::string key, T Options::*member, IntegerRange range, std::string meaning,
                     std::string unit = "") {
        const auto limit = static_cast<std::int64_t>(
            std::min<std::uint64_t>(std::numeric_limits<T>::max(), std::numeric_limits<std::int64_t>::max()));
        return add(std::move(key),
                   IntegerKey{as<std::int64_t>(member), range.lowest, std::min(range.highest, limit)},
                   std::move(meaning), std::move(unit));
    }

    // The same, with words that stand for some values, also outside the range.
    template <std::integral T>
    Section& integer_or(std::vector<NumberWord> words, std::string key, T Options::*member,
                        IntegerRange range, std::string meaning, std::string unit = "") {
        integer(std::move(key), member, range, std::move(meaning), std::move(unit));
        std::get<IntegerKey>(last_->kind).words = std::move(words);
        return *this;
    }

    Section& real(std::string key, double Options::*member, Interval allowed, std::string meaning,
                  std::string unit = "") {
        return add(std::move(key), RealKey{as<double>(member), allowed}, std::move(meaning), std::move(unit));
    }

    Section& flag(std::string key, bool Options::*member, std::string meaning) {
        return add(std::move(key), FlagKey{as<bool>(member)}, std::move(meaning));
    }

    Section& text(std::string key, std::string Options::*member, std::string meaning, std::string unit,
                  std::string allowed = "text") {
        return add(std::move(key), TextKey{as<std::string>(member), std::move(allowed)}, std::move(meaning),
                   std::move(unit));
    }

    Section& list(std::string key, std::vector<std::string> Options::*member, std::string meaning) {
        return add(std::move(key), ListKey{as<std::vector<std::string>>(member)}, std::move(meaning));
    }

    Section& triple(std::string key, Index Options::*member, int lowest, std::string meaning,
                    std::string unit) {
        return add(std::move(key), TripleKey{as<Index>(member), lowest}, std::move(meaning), std::move(unit));
    }

    Section& reals(std::string key, Triple Options::*member, Interval allowed, std::string meaning,
                   std::string unit) {
        return add(std::move(key), RealTripleKey{as<Triple>(member), allowed}, std::move(meaning),
                   std::move(unit));
    }

    // A word of an enumeration, or boxes in the place of its last one.
    template <class Enum>
    Section& shape(std::string key, Enum Options::*member, BoxesList Options::*boxes, std::string meaning) {
        const auto read = read_;
        const auto write = write_;
        std::vector<std::string> words = words_of<Enum>();
        const Enum listed = *named<Enum>(words.back());
        words.pop_back();
        Access<WordOrBoxes> value{[=](const Parameters& p) -> WordOrBoxes {
                                      const Options options = read(p);
                                      if (options.*member == listed) return {"", options.*boxes};
                                      return {keel::name(options.*member)};
                                  },
                                  [=](Parameters& p, const WordOrBoxes& chosen) {
                                      Options& options = write(p);
                                      options.*member =
                                          chosen.word.empty() ? listed : *named<Enum>(chosen.word);
                                      options.*boxes = chosen.boxes;
                                  }};
        return add(std::move(key), ShapeKey{std::move(value), std::move(words)}, std::move(meaning));
    }

    // A text that is one of some words ...
    Section& choice(std::string key, std::string Options::*member, std::vector<std::string> words,
                    std::string meaning) {
        return add(std::move(key), ChoiceKey{as<std::string>(member), std::move(words)}, std::move(meaning));
    }
    // ... each with a meaning of its own ...
    Section& choice(std::string key, std::string Options::*member, const std::vector<Word>& words,
                    std::string meaning) {
        ChoiceKey kind{as<std::string>(member), {}, {}};
        for (const Word& word : words) {
            kind.names.push_back(word.name);
            kind.meanings.push_back(word.meaning);
        }
        return add(std::move(key), std::move(kind), std::move(meaning));
    }
    // ... or an enumeration by its own.
    template <class Enum>
    requires std::is_enum_v<Enum> Section& choice(std::string key, Enum Options::*member,
                                                  std::string meaning) {
        const auto read = read_;
        const auto write = write_;
        Access<std::string> value{
            [=](const Parameters& p) { return std::string(keel::name(read(p).*member)); },
            [=](Parameters& p, const std::string& word) { write(p).*member = *named<Enum>(word); }};
        return add(std::move(key), ChoiceKey{std::move(value), words_of<Enum>()}, std::move(meaning));
    }

    // A word of an enumeration, or an interval in the place of its last one.
    template <class Enum>
    Section& interval(std::string key, Enum Options::*source, double Options::*lowest,
                      double Options::*highest, std::string meaning) {
        const auto read = read_;
        const auto write = write_;
        std::vector<std::string> words = words_of<Enum>();
        const Enum given = *named<Enum>(words.back());
        words.pop_back();
        Access<WordOrInterval> value{[=](const Parameters& p) -> WordOrInterval {
                                         const Options options = read(p);
                                         if (options.*source == given)
                                             return {"", {options.*lowest, options.*highest}};
                                         return {keel::name(options.*source)};
                                     },
                                     [=](Parameters& p, const WordOrInterval& chosen) {
                                         Options& options = write(p);
                                         options.*source =
                                             chosen.word.empty() ? given : *named<Enum>(chosen.word);
                                         if (!chosen.word.empty()) return;
                                         options.*lowest = chosen.ends[0];
                                         options.*highest = chosen.ends[1];
                                     }};
        return add(std::move(key), IntervalKey{std::move(value), std::move(words)}, std::move(meaning));
    }

    // A boundary for each direction, or for each of its sides.
    Section& boundaries(std::string key, Boundaries Options::*member, std::string meaning) {
        using Words = std::array<std::string, 3>;
        const auto read = read_;
        const auto write = write_;
        Access<Words> value{
            [=](const Parameters& p) {
                Words words;
                const Boundaries values = read(p).*member;
                std::ranges::transform(values, words.begin(), [](const Sides<Boundary>& sides) {
                    const std::string low = keel::name(sides.low);
                    return sides.low == sides.high ? low : low + "/" + keel::name(sides.high);
                });
                return words;
            },
            [=](Parameters& p, const Words& words) {
                std::ranges::transform(words, (write(p).*member).begin(), [](const std::string& word) {
                    const auto slash = std::min(word.find('/'), word.size());
                    return Sides(*named<Boundary>(word.substr(0, slash)),
                                 *named<Boundary>(word.substr(slash < word.size() ? slash + 1 : 0)));
                });
            }};
        return add(std::move(key), BoundariesKey{std::move(value), words_of<Boundary>()}, std::move(meaning));
    }

  private:
    template <class Value, class Member>
    Access<Value> as(Member Options::*member) const {
        const auto read = read_;
        const auto write = write_;
        return {[=](const Parameters& p) { return static_cast<Value>(read(p).*member); },
                [=](Parameters& p, const Value& value) { write(p).*member = static_cast<Member>(value); }};
    }

    Section& add(std::string key, decltype(Key::kind) kind, std::string meaning, std::string unit = "") {
        std::vector<Condition> needs = always_;
        if (conditions_) needs.push_back(conditions_(key));
        last_ =
            &table_.add({name_, std::move(key), std::move(unit), std::move(meaning), std::move(kind), needs});
        return *this;
    }

    Table& table_;
    std::string name_;
    std::function<Options&(Parameters&)> write_;
    std::function<Options(const Parameters&)> read_;
    std::vector<Condition> always_;  // what every key needs
    std::function<Condition(const std::string&)> conditions_;
    Key* last_ = nullptr;
};

}  // namespace keel
