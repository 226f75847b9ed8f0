#include "miniapp/files/numpy_header.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <optional>

#include "miniapp/deck/text/text.hpp"

namespace keel {
namespace {

// A value of Python, as far as headers have it.
struct Literal {
    enum class Kind { text, integer, flag, none, tuple, list, dictionary };
    Kind kind = Kind::none;
    std::string text = {};
    std::int64_t number = 0;           // an integer or a flag has it
    std::vector<Literal> items = {};   // key, value, key, value, ... in a dictionary
    std::string_view as_written = {};  // with the blanks behind it
};

// The grammar of ast.literal_eval but for numbers that are no integers, bytes, sets and escapes in texts.
class LiteralParser {
  public:
    explicit LiteralParser(std::string_view text) : rest_(text) {}

    // The value that is the whole text.
    Literal whole() {
        skip_blanks();
        Literal value = parse(0);
        if (!rest_.empty()) complain();
        return value;
    }

  private:
    static constexpr int deepest = 20;  // brackets in brackets

    [[noreturn]] void complain() const {
        const std::string where =
            rest_.empty() ? "its end" : fmt::format("\"{}\"", printable(rest_.substr(0, 40)));
        throw NumpyFileError(fmt::format(
            "has a header that is no Python dictionary, at {}; write it by numpy.save(\"FILE.npy\", array)",
            where));
    }
    // Blanks, ends of lines that are joined by a backslash or by brackets, and comments.
    void skip_blanks() {
        while (!rest_.empty()) {
            if (rest_.front() == '#')
                rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
            else if (rest_.starts_with("\\\n"))
                rest_.remove_prefix(2);
            else if (std::string_view(" \t\r\n\f").find(rest_.front()) != std::string_view::npos)
                rest_.remove_prefix(1);
            else
                return;
        }
    }
    bool take(std::string_view word) {
        if (!rest_.starts_with(word)) return false;
        rest_.remove_prefix(word.size());
        skip_blanks();
        return true;
    }

    Literal parse(int depth) {
        if (depth > deepest) complain();
        const std::string_view begin = rest_;
        Literal value = take("(")   ? sequence(Literal::Kind::tuple, ")", depth)
                        : take("[") ? sequence(Literal::Kind::list, "]", depth)
                        : take("{") ? dictionary(depth)
                                    : scalar();
        value.as_written = begin.substr(0, begin.size() - rest_.size());
        return value;
    }

    // A single value in parentheses is itself, a tuple only with a comma behind it.
    Literal sequence(Literal::Kind kind, std::string_view end, int depth) {
        Literal all{.kind = kind};
        bool comma = true;
        while (!take(end)) {
            if (!comma) complain();
            all.items.push_back(parse(depth + 1));
            comma = take(",");
        }
        const bool in_parentheses = kind == Literal::Kind::tuple && all.items.size() == 1 && !comma;
        return in_parentheses ? Literal(all.items.front()) : all;
    }

    Literal dictionary(int depth) {
        Literal all{.kind = Literal::Kind::dictionary};
        bool comma = true;
        while (!take("}")) {
            if (!comma) complain();
            all.items.push_back(parse(depth + 1));
            if (!take(":")) complain();
            all.items.push_back(parse(depth + 1));
            comma = take(",");
        }
        return all;
    }

    Literal scalar() {
        if (take("True")) return {.kind = Literal::Kind::flag, .number = 1};
        if (take("False")) return {.kind = Literal::Kind::flag};
        if (take("None")) return {};
        if (auto first = text()) {
            while (const auto next = text()) *first += *next;  // texts side by side are one
            return {.kind = Literal::Kind::text, .text = *first};
        }
        return {.kind = Literal::Kind::integer, .number = integer()};
    }

    // A text in quotes of any kind, with a prefix or none.
    std::optional<std::string> text() {
        std::size_t at = 0;
        if (!rest_.empty() && std::string_view("rRuU").find(rest_.front()) != std::string_view::npos) at = 1;
        if (at >= rest_.size() || (rest_[at] != '\'' && rest_[at] != '"')) return {};
        const std::string thrice(3, rest_[at]);
        const std::string quotes = rest_.substr(at).starts_with(thrice) ? thrice : thrice.substr(2);
        const std::size_t begin = at + quotes.size();
        const std::size_t end = rest_.find(quotes, begin);
        if (end == std::string_view::npos) complain();
        const std::string_view found = rest_.substr(begin, end - begin);
        if (found.find_first_of(quotes.size() == 1 ? "\\\n" : "\\") != std::string_view::npos) complain();
        rest_.remove_prefix(end + quotes.size());
        skip_blanks();
        return std::string(found);
    }

    // Python 2 wrote an L behind long integers.
    std::int64_t integer() {
        std::string_view digits = rest_;
        if (digits.starts_with('+')) digits.remove_prefix(1);
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        const bool leading_zero = value != 0 && digits.starts_with('0');
        if (error != std::errc() || leading_zero || (digits != rest_ && digits.starts_with('-'))) complain();
        rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
        if (rest_.starts_with('L')) rest_.remove_prefix(1);
        skip_blanks();
        return value;
    }

    std::string_view rest_;
};

struct Type {
    std::size_t bytes;
    bool swapped;
};

// The floating-point type of such a name, as numpy.dtype knows it; nothing of other types.
std::optional<Type> type_named(std::string_view word) {
    constexpr std::array<std::string_view, 3> of_double{"float64", "double", "float"};
    constexpr std::array<std::string_view, 2> of_float{"float32", "single"};
    if (std::ranges::find(of_double, word) != of_double.end()) return Type{sizeof(double), false};
    if (std::ranges::find(of_float, word) != of_float.end()) return Type{sizeof(float), false};
    constexpr char other = std::endian::native == std::endian::little ? '>' : '<';
    const bool has_order = !word.empty() && std::string_view("<>=|").find(word.front()) != word.npos;
    const bool swapped = has_order && word.front() == other;
    if (has_order) word.remove_prefix(1);
    if (word == "f8" || word == "d") return Type{sizeof(double), swapped};
    if (word == "f4" || word == "f") return Type{sizeof(float), swapped};
    return {};
}

}  // namespace

NumpyHeader parse_numpy_header(std::string_view text) {
    const Literal header = LiteralParser(text).whole();
    const Literal* type = nullptr;
    const Literal* fortran_order = nullptr;
    const Literal* shape = nullptr;
    bool others = header.kind != Literal::Kind::dictionary;
    for (std::size_t n = 0; !others && n < header.items.size(); n += 2) {
        const Literal& key = header.items[n];
        const Literal** place = key.text == "descr"           ? &type
                                : key.text == "fortran_order" ? &fortran_order
                                : key.text == "shape"         ? &shape
                                                              : nullptr;
        if (place)
            *place = &header.items[n + 1];  // the last of several counts
        else
            others = true;
    }
    if (others || !type || !fortran_order || !shape)
        throw NumpyFileError(
            "has a header without the keys descr, fortran_order and shape alone; write it by "
            "numpy.save(\"FILE.npy\", array)");
    const auto complain = [](const Literal& value, const std::string& what) {
        throw NumpyFileError(
            fmt::format("has {} {}", printable(trimmed(std::string(value.as_written))), what));
    };
    if (fortran_order->kind != Literal::Kind::flag)
        complain(*fortran_order, "for fortran_order; write it by numpy.save(\"FILE.npy\", array)");
    const bool of_sizes =
        shape->kind == Literal::Kind::tuple && std::ranges::all_of(shape->items, [](const Literal& size) {
            return size.kind == Literal::Kind::integer && size.number >= 0;
        });
    if (!of_sizes) complain(*shape, "for a shape; write it by numpy.save(\"FILE.npy\", array)");
    const std::optional<Type> found =
        type->kind == Literal::Kind::text ? type_named(type->text) : std::optional<Type>();
    if (!found) complain(*type, "for the type of its values, not 'f8' or 'f4'; write array.astype('f8')");
    NumpyHeader result{
        .value_bytes = found->bytes, .swapped = found->swapped, .fortran_order = fortran_order->number != 0};
    for (const Literal& size : shape->items) result.shape.push_back(size.number);
    return result;
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
    return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

}  // namespace keel
