#include "miniapp/deck/assignment.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <system_error>

#include "miniapp/deck/text/key_text.hpp"
#include "miniapp/deck/text/spelling.hpp"
#include "miniapp/deck/text/text.hpp"

namespace keel {

namespace {

using Complaint = std::optional<std::string>;

std::string written(const toml::node& node) {
    if (const auto* text = node.as_string()) return quoted(text->get());
    if (const auto* integer = node.as_integer()) return fmt::format("{}", integer->get());
    if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
    if (const auto* real = node.as_floating_point()) {
        const double x = real->get();
        if (!std::isfinite(x)) return std::isnan(x) ? "nan" : x > 0 ? "inf" : "-inf";
        return nlohmann::json(x).dump();  // keeps the .0
    }
    if (const auto* array = node.as_array()) {
        std::vector<std::string> elements;
        for (const toml::node& element : *array) elements.push_back(written(element));
        return fmt::format("[{}]", fmt::join(elements, ","));
    }
    return node.is_table() ? "{...}" : "a date or time";
}

Complaint unknown_word(const std::string& what, const std::string& word,
                       const std::vector<std::string>& names) {
    return fmt::format("unknown {}; choose {}{}", what, fmt::join(names, ", "),
                       did_you_mean(nearest(word, names)));
}

// One overload a kind of key.
class Assignment {
  public:
    Assignment(const Key& key, const toml::node& node, Parameters& parameters)
        : key_(key), node_(node), parameters_(parameters) {}

    Complaint operator()(const IntegerKey& kind) const {
        if (const auto* word = node_.as_string()) {
            const auto found = std::ranges::find(kind.words, word->get(), &NumberWord::word);
            if (found != kind.words.end()) {
                kind.value.set(parameters_, found->number);
                return {};
            }
        }
        const auto* integer = node_.as_integer();
        if (!integer)
            return (kind.words.empty() ? "must be an integer, " : "must be an integer or a word, ") +
                   allowed_text(key_);
        if (integer->get() < kind.lowest) return outside();
        if (integer->get() > kind.highest)
            return fmt::format("must be from {} to {}", kind.lowest, kind.highest);
        kind.value.set(parameters_, integer->get());
        return {};
    }

    Complaint operator()(const RealKey& kind) const {
        const auto* integer = node_.as_integer();
        const auto* real = node_.as_floating_point();
        if (!integer && !real) {
            const auto* text = node_.as_string();
            return "must be a number, " + allowed_text(key_) +
                   (text && lacks_digits(text->get()) ? both_sides : "");
        }
        const double x = real ? real->get() : static_cast<double>(integer->get());
        if (!std::isfinite(x)) return "must be a finite number, " + allowed_text(key_);
        if (!kind.allowed.contains(x)) return outside();
        kind.value.set(parameters_, x);
        return {};
    }

    Complaint operator()(const FlagKey& kind) const {
        const auto* flag = node_.as_boolean();
        if (!flag) return "must be true or false, without quotes";
        kind.value.set(parameters_, flag->get());
        return {};
    }

    Complaint operator()(const ChoiceKey& kind) const {
        const auto* word = node_.as_string();
        if (!word) return fmt::format("must be a string, one of {}", allowed_text(key_));
        if (!is_among(kind.names, word->get())) return unknown_word(key_.name, word->get(), kind.names);
        kind.value.set(parameters_, word->get());
        return {};
    }

    Complaint operator()(const TextKey& kind) const {
        const auto* text = node_.as_string();
        if (!text) return "must be a string, in quotes";
        if (text->get().find('\0') != std::string::npos) return no_zero;
        kind.value.set(parameters_, text->get());
        return {};
    }

    Complaint operator()(const ListKey& kind) const {
        const auto* array = node_.as_array();
        if (!array) return "must be an array of strings, in quotes";
        std::vector<std::string> texts;
        for (const toml::node& element : *array) {
            const auto* text = element.as_string();
            if (!text) return "must be an array of strings, in quotes";
            if (text->get().find('\0') != std::string::npos) return no_zero;
            texts.push_back(text->get());
        }
        kind.value.set(parameters_, texts);
        return {};
    }

    Complaint operator()(const TripleKey& kind) const {
        const auto triple = triple_of(node_, kind.lowest);
        if (!triple) return fmt::format("must be an array of three integers, {}", allowed_text(key_));
        kind.value.set(parameters_, *triple);
        return {};
    }

    Complaint operator()(const BoundariesKey& kind) const {
        const std::string wanted =
            fmt::format("must be a string or an array of three, each one of {}", allowed_text(key_));
        const auto* array = node_.as_array();
        if (array ? array->size() != 3 : !node_.is_string()) return wanted;
        std::array<std::string, 3> words;
        for (std::size_t d = 0; d < 3; ++d) {
            const auto* word = array ? array->get(d)->as_string() : node_.as_string();
            if (!word) return wanted;
            words[d] = word->get();
            const auto slash = words[d].find('/');
            const std::string low = words[d].substr(0, slash);
            const std::string high = slash == std::string::npos ? low : words[d].substr(slash + 1);
            for (const std::string& side : {low, high})
                if (!is_among(kind.names, side)) return unknown_word(key_.name, side, kind.names);
            if (low != high && (low == kind.names.front() || high == kind.names.front()))
                return fmt::format("a direction is {} on both sides or on none", kind.names.front());
        }
        kind.value.set(parameters_, words);
        return {};
    }

    Complaint operator()(const IntervalKey& kind) const {
        if (const auto* word = node_.as_string()) {
            if (!is_among(kind.words, word->get())) return unknown_word(key_.name, word->get(), kind.words);
            kind.value.set(parameters_, {word->get()});
            return {};
        }
        const auto* array = node_.as_array();
        WordOrInterval interval;
        for (std::size_t end = 0; end < 2; ++end) {
            const auto number = array && array->size() == 2 ? array->get(end)->value<double>() : std::nullopt;
            if (!number || !std::isfinite(*number) || array->get(end)->is_boolean())
                return "must be one of " + allowed_text(key_);
            interval.ends[end] = *number;
        }
        if (interval.ends[0] < 0 || interval.ends[0] >= interval.ends[1])
            return "must be an interval of numbers >= 0, the lower end first";
        kind.value.set(parameters_, interval);
        return {};
    }

    Complaint operator()(const RealTripleKey& kind) const {
        const std::string wanted =
            fmt::format("must be an array of three finite numbers, {}", allowed_text(key_));
        const auto* array = node_.as_array();
        if (!array || array->size() != 3) return wanted;
        Triple triple{};
        for (std::size_t d = 0; d < 3; ++d) {
            const auto number = array->get(d)->value<double>();
            if (!number || array->get(d)->is_boolean() || !kind.allowed.contains(*number)) return wanted;
            triple[d] = *number;
        }
        kind.value.set(parameters_, triple);
        return {};
    }

    Complaint operator()(const ShapeKey& kind) const {
        if (const auto* word = node_.as_string()) {
            if (word->get().find('\0') != std::string::npos) return no_zero;
            const bool is_file = word->get().find_first_of("./") != std::string::npos;
            if (!is_file && !is_among(kind.words, word->get()))
                return unknown_word(key_.name, word->get(), kind.words);
            kind.value.set(parameters_,
                           is_file ? WordOrBoxes{"", {{}, word->get()}} : WordOrBoxes{word->get()});
            return {};
        }
        const std::string wanted =
            "must be a word, a file such as \"boxes.txt\", or an array of positions, each three integers >= "
            "0";
        const auto* array = node_.as_array();
        if (!array) return wanted;
        WordOrBoxes shape;
        for (const toml::node& element : *array) {
            const auto position = triple_of(element, 0);
            if (!position) return wanted;
            shape.boxes.positions.push_back(*position);
        }
        kind.value.set(parameters_, shape);
        return {};
    }

  private:
    static constexpr const char* no_zero = "must not contain \\u0000, which ends texts and paths";
    Complaint outside() const { return "must be " + allowed_text(key_); }

    static std::optional<Index> triple_of(const toml::node& node, int lowest) {
        const auto* array = node.as_array();
        if (!array || array->size() != 3) return {};
        Index triple;
        for (std::size_t d = 0; d < 3; ++d) {
            const auto* integer = array->get(d)->as_integer();
            if (!integer || integer->get() < lowest || integer->get() > std::numeric_limits<int>::max())
                return {};
            triple[d] = static_cast<int>(integer->get());
        }
        return triple;
    }

    const Key& key_;
    const toml::node& node_;
    Parameters& parameters_;
};

}  // namespace

std::string did_you_mean(const std::optional<std::string>& name) {
    return name ? fmt::format(" (did you mean \"{}\"?)", *name) : "";
}

std::string quoted(const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string shown_value(const toml::node& node) {
    return shown(written(node));
}

bool is_among(std::span<const std::string> names, const std::string& word) {
    return std::ranges::find(names, word) != names.end();
}

bool lacks_digits(const std::string& text) {
    const char* const end = text.data() + text.size();
    double number = 0;
    const auto [at, error] = std::from_chars(text.data() + (text.starts_with('+') ? 1 : 0), end, number);
    return error == std::errc() && at == end && text.find('.') != std::string::npos;
}
Complaint assign(const Key& key, const toml::node& value, Parameters& parameters) {
    return std::visit(Assignment(key, value, parameters), key.kind);
}

}  // namespace keel
