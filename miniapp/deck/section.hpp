#pragma once

// How keys are listed: a Section adds the members of one structure of options as keys of one section of the
// deck.

#include <algorithm>
#include <concepts>
#include <tuple>
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

// Each function takes the key's name, the member, what is allowed, the meaning and, where the value has one,
// the unit.
template <class Options>
class Section {
  public:
    // `find` returns the address of the structure in a Parameters: null where there is none to be read.
    template <std::invocable<Parameters&> Find>
    Section(Table& table, std::string name, const Find& find)
        : table_(&table), name_(std::move(name)), write_(find), read_(find) {}
    Section(Table& table, std::string name, Options Parameters::*options)
        : Section(table, std::move(name), [options](auto& p) { return &(p.*options); }) {}
    // The options that some modes alone know.
    Section(Table& table, std::string name, std::vector<std::string> modes)
        : Section(table, std::move(name), [](auto& p) { return &p.mode_options.template of<Options>(); }) {
        always_ = {{"run.mode", std::move(modes)}};
    }
    Section(Table& table, std::string name, std::string mode)
        : Section(table, std::move(name), std::vector{std::move(mode)}) {}

    // Adds a condition to the key added last.
    Section& needs(std::string key, std::vector<std::string> words, std::vector<std::string> others = {}) {
        last_->needs.push_back({std::move(key), std::move(words), std::move(others)});
        return *this;
    }

    // The same section, whose keys that are added by this are for experts.
    Section experts() const {
        Section section = *this;
        section.for_experts_ = true;
        return section;
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

    // A value of any kind. A member that is optional has the value null where it is not there.
    template <class T, class Member>
    Section& add(std::string key, ValueKind<T> kind, Member Options::*member, std::string meaning,
                 std::string unit = "") {
        return add_kind(
            std::move(key), std::move(kind), [=](const Options& o) { return std::optional<T>(o.*member); },
            [=](Options& o, const T& value) { o.*member = static_cast<Member>(value); }, std::move(meaning),
            std::move(unit));
    }

    template <std::integral T>
    Section& integer(std::string key, T Options::*member, IntegerRange range, std::string meaning,
                     std::string unit = "") {
        return integer_or({}, std::move(key), member, range, std::move(meaning), std::move(unit));
    }

    // The same, with words that stand for some values, also outside the range.
    template <std::integral T>
    Section& integer_or(const std::vector<NumberWord>& words, std::string key, T Options::*member,
                        IntegerRange range, std::string meaning, std::string unit = "") {
        const auto limit = static_cast<std::int64_t>(
            std::min<std::uint64_t>(std::numeric_limits<T>::max(), std::numeric_limits<std::int64_t>::max()));
        return add(std::move(key), integer_kind(range.lowest, std::min(range.highest, limit), words), member,
                   std::move(meaning), std::move(unit));
    }

    template <class Member>
    Section& real(std::string key, Member Options::*member, const Interval& allowed, std::string meaning,
                  std::string unit = "") {
        return add(std::move(key), real_kind(allowed), member, std::move(meaning), std::move(unit));
    }

    Section& flag(std::string key, bool Options::*member, std::string meaning) {
        return add(std::move(key), flag_kind(), member, std::move(meaning));
    }

    Section& text(std::string key, std::string Options::*member, std::string meaning, std::string unit) {
        return add(std::move(key), text_kind(), member, std::move(meaning), std::move(unit));
    }

    // A value that several members hold.
    template <class... Members>
    Section& add(std::string key, ValueKind<std::tuple<Members...>> kind,
                 std::tuple<Members Options::*...> members, std::string meaning) {
        return add_kind(
            std::move(key), std::move(kind),
            [=](const Options& o) {
                return std::apply([&](auto... member) { return std::tuple(o.*member...); }, members);
            },
            [=](Options& o, const std::tuple<Members...>& values) {
                std::apply([&](auto... member) { std::tie(o.*member...) = values; }, members);
            },
            std::move(meaning));
    }

    // A text that is one of some words ...
    Section& choice(std::string key, std::string Options::*member, const std::vector<Word>& words,
                    std::string meaning) {
        return add(key, choice_kind(key, words), member, std::move(meaning));
    }
    Section& choice(std::string key, std::string Options::*member, const std::vector<std::string>& words,
                    std::string meaning) {
        return choice(std::move(key), member, words_named(words), std::move(meaning));
    }
    // ... or an enumeration by its own.
    template <class Enum>
    requires std::is_enum_v<Enum> Section& choice(std::string key, Enum Options::*member,
                                                  std::string meaning) {
        return add_kind(
            key, choice_kind(key, words_named(words_of<Enum>())),
            [=](const Options& o) { return std::string(keel::name(o.*member)); },
            [=](Options& o, const std::string& word) { o.*member = *named<Enum>(word); }, std::move(meaning));
    }

  private:
    template <class T, class Get, class Set>
    Section& add_kind(std::string key, ValueKind<T> kind, const Get& get, const Set& set, std::string meaning,
                      std::string unit = "") {
        std::vector<Condition> needs = always_;
        if (conditions_) needs.push_back(conditions_(key));
        last_ =
            &table_->add({.section = name_,
                          .name = std::move(key),
                          .unit = std::move(unit),
                          .meaning = std::move(meaning),
                          .allowed = kind.allowed,
                          .words = kind.words,
                          .is_text = kind.is_text,
                          .needs = std::move(needs),
                          .expert = for_experts_,
                          .value =
                              [read = read_, print = kind.print, get](const Parameters& p) {
                                  const Options* const options = read(p);
                                  const auto value = options ? std::optional<T>(get(*options)) : std::nullopt;
                                  return value ? print(*value) : DeckValue();
                              },
                          .assign = [write = write_, parse = kind.parse, set](
                                        const DeckValue& value, Parameters& p) -> std::optional<std::string> {
                              const Parsed<T> parsed = parse(value);
                              if (!parsed.value) return parsed.complaint;
                              set(*write(p), *parsed.value);
                              return {};
                          }});
        return *this;
    }

    Table* table_;
    std::string name_;
    bool for_experts_ = false;
    std::function<Options*(Parameters&)> write_;
    std::function<const Options*(const Parameters&)> read_;
    std::vector<Condition> always_;  // conditions of every key
    std::function<Condition(const std::string&)> conditions_;
    Key* last_ = nullptr;
};

}  // namespace keel
