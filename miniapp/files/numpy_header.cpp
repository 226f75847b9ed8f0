#include "miniapp/files/numpy_header.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>

#include "miniapp/deck/text/text.hpp"

namespace keel {
namespace {

// The literal as JSON: other quotes, brackets and words, and no comma before the end of a list.
std::string as_json(std::string_view literal) {
    std::string json;
    char quote = '\0';    // the end of the text at hand
    std::size_t end = 0;  // behind the last character that is not blank
    for (const char c : literal) {
        if (quote == '\0' && c == 'L') continue;  // Python 2 has 4L for 4
        const bool opens = quote == '\0' && (c == '\'' || c == '"');
        const bool closes = quote == '\0' && (c == ')' || c == ']' || c == '}');
        if (closes && end > 0 && json[end - 1] == ',') json[end - 1] = ' ';
        if (opens || c == quote) {
            quote = opens ? c : '\0';
            json += '"';
        } else if (quote != '\0') {
            json += c;
        } else {
            json += c == '('   ? '['
                    : c == ')' ? ']'
                               : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        }
        if (std::string_view(" \t\r\n").find(c) == std::string_view::npos) end = json.size();
    }
    return json;
}

// A header with the floating-point type of such a name, as numpy.dtype knows it; nothing of other types.
std::optional<NumpyHeader> with_type(std::string_view word) {
    constexpr std::array<std::string_view, 3> of_double{"float64", "double", "float"};
    constexpr std::array<std::string_view, 2> of_float{"float32", "single"};
    if (std::ranges::find(of_double, word) != of_double.end()) return NumpyHeader{sizeof(double)};
    if (std::ranges::find(of_float, word) != of_float.end()) return NumpyHeader{sizeof(float)};
    constexpr char other = std::endian::native == std::endian::little ? '>' : '<';
    const bool has_order = !word.empty() && std::string_view("<>=|").find(word.front()) != word.npos;
    const bool swapped = has_order && word.front() == other;
    if (has_order) word.remove_prefix(1);
    if (word == "f8" || word == "d") return NumpyHeader{sizeof(double), swapped};
    if (word == "f4" || word == "f") return NumpyHeader{sizeof(float), swapped};
    return {};
}

}  // namespace

NumpyHeader parse_numpy_header(std::string_view text) {
    const std::string remedy = "; write it by numpy.save(\"FILE.npy\", array)";
    const auto header = nlohmann::json::parse(as_json(text), nullptr, false);
    const bool whole = header.is_object() && header.size() == 3 && header.contains("descr") &&
                       header.contains("fortran_order") && header.contains("shape");
    if (!whole)
        throw NumpyFileError("has a header that is no dictionary of descr, fortran_order and shape alone" +
                             remedy);
    const auto& [type, order, shape] = std::tie(header["descr"], header["fortran_order"], header["shape"]);
    const auto require = [](bool holds, const nlohmann::json& value, const std::string& what) {
        if (!holds) throw NumpyFileError(fmt::format("has {} {}", printable(value.dump()), what));
    };
    require(order.is_boolean(), order, "for fortran_order" + remedy);
    require(shape.is_array() && std::ranges::all_of(shape, &nlohmann::json::is_number_unsigned), shape,
            "for a shape" + remedy);
    auto result = with_type(type.is_string() ? type.get<std::string>() : "");
    require(result.has_value(), type,
            "for the type of its values, not 'f8' or 'f4'; write array.astype('f8')");
    result->fortran_order = order.get<bool>();
    result->shape = shape.get<std::vector<std::int64_t>>();
    return *result;
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
    return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

}  // namespace keel
