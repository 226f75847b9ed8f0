#include "miniapp/deck/values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "miniapp/deck/text/spelling.hpp"
#include "miniapp/deck/text/text.hpp"
#include "solvers/krylov/options.hpp"

namespace keel {

namespace {

constexpr const char* no_zero = "must not contain \\u0000, which ends texts and paths";

bool has_zero(const std::string& text) {
    return text.find('\0') != std::string::npos;
}

std::vector<std::string> names_of_words(const std::vector<Word>& words) {
    std::vector<std::string> names;
    for (const Word& word : words) names.push_back(word.name);
    return names;
}

// The words of an enumeration, but for the last ones.
template <class Enum>
std::vector<Word> words_but(std::size_t last) {
    std::vector<Word> words = words_named(words_of<Enum>());
    words.resize(words.size() - last);
    return words;
}

std::string joined(const std::vector<Word>& words) {
    return fmt::format("{}", fmt::join(names_of_words(words), ", "));
}

std::string unknown_word(const std::string& key, const std::string& word, const std::vector<Word>& words) {
    return fmt::format("unknown {}; choose {}{}", key, joined(words),
                       did_you_mean(word, names_of_words(words)));
}

bool is_among(const std::vector<Word>& words, const std::string& name) {
    return std::ranges::find(words, name, &Word::name) != words.end();
}

std::string interval_text(const Interval& interval) {
    std::string text;
    if (std::isfinite(interval.lowest))
        text = fmt::format("{} {}", interval.lowest_open ? ">" : ">=", interval.lowest);
    if (std::isfinite(interval.highest))
        text += fmt::format("{}{} {}", text.empty() ? "" : " and ",
                            interval.highest_open ? "<" : "<=", interval.highest);
    return text.empty() ? "any number" : text;
}

std::string range_text(std::int64_t lowest, std::int64_t highest) {
    const bool is_type_limit =
        highest == std::numeric_limits<int>::max() || highest == std::numeric_limits<std::int64_t>::max();
    return is_type_limit ? fmt::format(">= {}", lowest) : fmt::format("from {} to {}", lowest, highest);
}

std::optional<Index> triple_of(const DeckValue& value, int lowest) {
    if (!value.is_array() || value.size() != 3) return {};
    Index triple;
    for (std::size_t d = 0; d < 3; ++d) {
        if (!value[d].is_number_integer()) return {};
        const auto number = value[d].get<std::int64_t>();
        if (number < lowest || number > std::numeric_limits<int>::max()) return {};
        triple[d] = static_cast<int>(number);
    }
    return triple;
}

// An array of `count` finite numbers, or nothing.
template <std::size_t count>
std::optional<std::array<double, count>> numbers_of(const DeckValue& value) {
    if (!value.is_array() || value.size() != count) return {};
    std::array<double, count> numbers{};
    for (std::size_t n = 0; n < count; ++n) {
        if (!value[n].is_number() || !std::isfinite(value[n].get<double>())) return {};
        numbers[n] = value[n].get<double>();
    }
    return numbers;
}

std::string word_of(const Sides<Boundary>& sides) {
    const std::string low = name(sides.low);
    return sides.low == sides.high ? low : low + "/" + name(sides.high);
}

// The boundary conditions of one direction, of a word or two with a slash between.
Parsed<Sides<Boundary>> sides_of(const std::string& key, const std::string& text) {
    const auto slash = text.find('/');
    std::array<Boundary, 2> sides{};
    for (std::size_t side = 0; side < 2; ++side) {
        const std::string word =
            side == 0 || slash == text.npos ? text.substr(0, slash) : text.substr(slash + 1);
        const auto boundary = named<Boundary>(word);
        if (!boundary) return {{}, unknown_word(key, word, words_but<Boundary>(0))};
        sides[side] = *boundary;
    }
    if (sides[0] != sides[1] && std::ranges::count(sides, Boundary::periodic) > 0)
        return {{}, "a direction is periodic on both sides or on none"};
    return {Sides(sides[0], sides[1])};
}

std::string written(const DeckValue& value) {
    if (value.is_object()) return "{...}";
    if (value.is_null()) return "a date or time";
    if (value.is_number_float()) {
        const auto x = value.get<double>();
        if (!std::isfinite(x)) return std::isnan(x) ? "nan" : x > 0 ? "inf" : "-inf";
    }
    if (!value.is_array()) return json_text(value);
    std::vector<std::string> elements;
    for (const DeckValue& element : value) elements.push_back(written(element));
    return fmt::format("[{}]", fmt::join(elements, ","));
}

}  // namespace

std::string json_text(const DeckValue& value) {
    return value.dump(-1, ' ', false, DeckValue::error_handler_t::replace);
}

std::vector<Word> words_named(const std::vector<std::string>& names) {
    std::vector<Word> words;
    for (const std::string& name : names) words.push_back({name});
    return words;
}

bool Interval::contains(double x) const {
    return std::isfinite(x) && (lowest_open ? x > lowest : x >= lowest) &&
           (highest_open ? x < highest : x <= highest);
}

ValueKind<std::int64_t> integer_kind(std::int64_t lowest, std::int64_t highest,
                                     const std::vector<NumberWord>& words) {
    ValueKind<std::int64_t> kind;
    for (const NumberWord& word : words) {
        kind.words.push_back({word.word});
        kind.allowed += word.word + ", ";
    }
    kind.allowed += (words.empty() ? "" : "or ") + range_text(lowest, highest);
    kind.parse = [=, allowed = kind.allowed](const DeckValue& value) -> Parsed<std::int64_t> {
        const auto word = value.is_string()
                              ? std::ranges::find(words, value.get<std::string>(), &NumberWord::word)
                              : words.end();
        if (word != words.end()) return {word->number};
        if (!value.is_number_integer())
            return {{},
                    (words.empty() ? "must be an integer, " : "must be an integer or a word, ") + allowed};
        const auto number = value.get<std::int64_t>();
        if (number < lowest) return {{}, "must be " + allowed};
        if (number > highest) return {{}, fmt::format("must be from {} to {}", lowest, highest)};
        return {number};
    };
    kind.print = [=](std::int64_t value) -> DeckValue {
        const auto word = std::ranges::find(words, value, &NumberWord::number);
        if (word != words.end()) return word->word;
        return value;
    };
    return kind;
}

ValueKind<double> real_kind(const Interval& allowed) {
    const std::string text = interval_text(allowed);
    return {text, [=](const DeckValue& value) -> Parsed<double> {
                if (!value.is_number())
                    return {{}, "must be a number, " + text + "; write it as 0.3 or 1.0e-8"};
                const auto x = value.get<double>();
                if (!std::isfinite(x)) return {{}, "must be a finite number, " + text};
                if (!allowed.contains(x)) return {{}, "must be " + text};
                return {x};
            }};
}

ValueKind<bool> flag_kind() {
    return {.allowed = "true, false",
            .parse = [](const DeckValue& value) -> Parsed<bool> {
                if (!value.is_boolean()) return {{}, "must be true or false, without quotes"};
                return {value.get<bool>()};
            },
            .words = {{"true"}, {"false"}}};
}

ValueKind<std::string> choice_kind(const std::string& key, const std::vector<Word>& words) {
    return {.allowed = joined(words),
            .parse = [=](const DeckValue& value) -> Parsed<std::string> {
                if (!value.is_string()) return {{}, "must be a string, one of " + joined(words)};
                const auto word = value.get<std::string>();
                if (!is_among(words, word)) return {{}, unknown_word(key, word, words)};
                return {word};
            },
            .words = words,
            .is_text = true};
}

ValueKind<std::string> text_kind() {
    return {.allowed = "text",
            .parse = [](const DeckValue& value) -> Parsed<std::string> {
                if (!value.is_string()) return {{}, "must be a string, in quotes"};
                if (has_zero(value.get<std::string>())) return {{}, no_zero};
                return {value.get<std::string>()};
            },
            .is_text = true};
}

ValueKind<std::string> label_kind() {
    ValueKind<std::string> kind = text_kind();
    kind.parse = [parse = kind.parse](const DeckValue& value) -> Parsed<std::string> {
        Parsed<std::string> parsed = parse(value);
        if (parsed.value && !is_utf8(*parsed.value)) return {{}, "must be UTF-8; write it in ASCII"};
        return parsed;
    };
    return kind;
}

ValueKind<std::vector<std::string>> list_kind() {
    return {"array of texts", [](const DeckValue& value) -> Parsed<std::vector<std::string>> {
                const bool of_texts = value.is_array() && std::ranges::all_of(value, &DeckValue::is_string);
                if (!of_texts) return {{}, "must be an array of strings, in quotes"};
                auto texts = value.get<std::vector<std::string>>();
                if (std::ranges::any_of(texts, has_zero)) return {{}, no_zero};
                return {std::move(texts)};
            }};
}

ValueKind<Index> triple_kind(int lowest) {
    const std::string allowed = fmt::format("each >= {}", lowest);
    return {allowed, [=](const DeckValue& value) -> Parsed<Index> {
                const auto triple = triple_of(value, lowest);
                if (!triple) return {{}, "must be an array of three integers, " + allowed};
                return {triple};
            }};
}

ValueKind<Triple> real_triple_kind(const Interval& each) {
    const std::string allowed = "each " + interval_text(each);
    return {allowed, [=](const DeckValue& value) -> Parsed<Triple> {
                const auto triple = numbers_of<3>(value);
                if (!triple || !std::ranges::all_of(*triple, [&](double x) { return each.contains(x); }))
                    return {{}, "must be an array of three finite numbers, " + allowed};
                return {triple};
            }};
}

ValueKind<std::tuple<DomainShape, BoxesList>> shape_kind(const std::string& key) {
    using GivenShape = std::tuple<DomainShape, BoxesList>;
    const std::vector<Word> words = words_but<DomainShape>(1);
    return {.allowed = joined(words) + ", array of triples >= 0, or a file",
            .parse = [=](const DeckValue& value) -> Parsed<GivenShape> {
                BoxesList list;
                if (value.is_string()) {
                    list.file = value.get<std::string>();
                    if (has_zero(list.file)) return {{}, no_zero};
                    if (list.file.find_first_of("./") != list.file.npos)
                        return {GivenShape{DomainShape::list, list}};
                    if (!is_among(words, list.file)) return {{}, unknown_word(key, list.file, words)};
                    return {GivenShape{*named<DomainShape>(list.file), {}}};
                }
                for (const DeckValue& element : value)
                    if (const auto position = triple_of(element, 0)) list.positions.push_back(*position);
                if (!value.is_array() || list.positions.size() < value.size())
                    return {{},
                            "must be a word, a file such as \"boxes.txt\", or an array of positions, each "
                            "three integers >= 0"};
                return {GivenShape{DomainShape::list, list}};
            },
            .print = [](const GivenShape& shape) -> DeckValue {
                const auto& [rule, list] = shape;
                if (rule != DomainShape::list) return name(rule);
                if (!list.file.empty()) return list.file;
                return list.positions;
            },
            .words = words,
            .is_text = true};
}

template <class Enum>
ValueKind<std::tuple<Enum, std::string>> word_or_file_kind(const std::string& key,
                                                           const std::vector<std::string>& endings) {
    using Given = std::tuple<Enum, std::string>;
    const std::vector<Word> words = words_but<Enum>(1);
    const std::string files = fmt::format("a file *{}", fmt::join(endings, ", *"));
    return {.allowed = joined(words) + ", or " + files,
            .parse = [=](const DeckValue& value) -> Parsed<Given> {
                if (!value.is_string()) return {{}, "must be a string, a word or " + files};
                const auto text = value.get<std::string>();
                if (has_zero(text)) return {{}, no_zero};
                if (std::ranges::any_of(endings, [&](auto& ending) { return text.ends_with(ending); }))
                    return {Given{Enum::file, text}};
                if (!is_among(words, text)) return {{}, unknown_word(key, text, words)};
                return {Given{*named<Enum>(text), {}}};
            },
            .print = [](const Given& given) -> DeckValue {
                const auto& [word, file] = given;
                return word == Enum::file ? file : name(word);
            },
            .words = words,
            .is_text = true};
}
template ValueKind<std::tuple<Rhs, std::string>> word_or_file_kind<Rhs>(const std::string&,
                                                                        const std::vector<std::string>&);
template ValueKind<std::tuple<BoundaryData, std::string>> word_or_file_kind<BoundaryData>(
    const std::string&, const std::vector<std::string>&);

ValueKind<std::tuple<SpectrumFrom, double, double>> spectrum_kind(const std::string& key) {
    using GivenSpectrum = std::tuple<SpectrumFrom, double, double>;
    const BottomOptions usual;
    const std::vector<Word> words = words_but<SpectrumFrom>(1);
    const std::string allowed = joined(words) + ", or [lowest, highest]";
    return {.allowed = allowed,
            .parse = [=](const DeckValue& value) -> Parsed<GivenSpectrum> {
                if (value.is_string()) {
                    const auto word = value.get<std::string>();
                    if (!is_among(words, word)) return {{}, unknown_word(key, word, words)};
                    return {GivenSpectrum{*named<SpectrumFrom>(word), usual.spectrum_lowest,
                                          usual.spectrum_highest}};
                }
                const auto ends = numbers_of<2>(value);
                if (!ends) return {{}, "must be one of " + allowed};
                const auto [lowest, highest] = *ends;
                if (lowest < 0 || lowest >= highest)
                    return {{}, "must be an interval of numbers >= 0, the lower end first"};
                return {GivenSpectrum{SpectrumFrom::given, lowest, highest}};
            },
            .print = [](const GivenSpectrum& spectrum) -> DeckValue {
                const auto& [source, lowest, highest] = spectrum;
                if (source != SpectrumFrom::given) return name(source);
                return std::array{lowest, highest};
            },
            .words = words};
}

ValueKind<Boundaries> boundaries_kind(const std::string& key) {
    const std::string allowed = joined(words_but<Boundary>(0)) + ", or low/high of the last two";
    return {.allowed = allowed,
            .parse = [=](const DeckValue& value) -> Parsed<Boundaries> {
                const bool three = value.is_array() && value.size() == 3 &&
                                   std::ranges::all_of(value, &DeckValue::is_string);
                if (!three && !value.is_string())
                    return {{}, "must be a string or an array of three, each one of " + allowed};
                Boundaries boundaries{};
                for (std::size_t d = 0; d < 3; ++d) {
                    const auto sides = sides_of(key, (three ? value[d] : value).get<std::string>());
                    if (!sides.value) return {{}, sides.complaint};
                    boundaries[d] = *sides.value;
                }
                return {boundaries};
            },
            .print = [](const Boundaries& boundaries) -> DeckValue {
                const auto& [x, y, z] = boundaries;
                if (x == y && y == z) return word_of(x);
                return std::array{word_of(x), word_of(y), word_of(z)};
            },
            .words = words_but<Boundary>(0),
            .is_text = true};
}

std::string quoted(const std::string& text) {
    return written(text);
}

std::string shown_value(const DeckValue& value, std::size_t most) {
    return shown(written(value), most);
}

}  // namespace keel
