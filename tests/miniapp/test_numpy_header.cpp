// Headers of .npy files: what numpy.load reads of float64 and float32 is read, and nothing else.

#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "miniapp/files/numpy_header.hpp"

namespace {

using namespace keel;
using Sizes = std::vector<std::int64_t>;

// A header with this type and shape, as numpy.save writes it.
std::string header(const std::string& type, const std::string& shape) {
    return "{'descr': " + type + ", 'fortran_order': False, 'shape': " + shape + ", }          \n";
}

// The complaint of a header; empty if it is read.
std::string complaint(const std::string& text) {
    try {
        parse_numpy_header(text);
    } catch (const NumpyFileError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("a header is the Python literal that it is, however it is written") {
    for (const std::string text :
         {"{'descr': '<f8', 'fortran_order': True, 'shape': (4, 4, 4), }          \n",
          "{'descr':'<f8','fortran_order':True,'shape':(4,4,4,),}",
          "{'descr': '<f8', 'fortran_order': True, 'shape': (4, 4, 4, ), }",
          "{\"descr\": \"<f8\", \"fortran_order\": True, \"shape\": (4, 4, 4)}",
          "  {'shape':(4 ,4\t, 4), 'fortran_order' : True ,'descr':'<f8'}\n\n",
          "{u'descr':u'<f8','fortran_order':True,'shape':(4L,4L,4L)}",
          "({'descr':('<' 'f8'),\n'fortran_order':(True), # a comment\n'shape':(+4,(4),4)})",
          "{'descr':'<f4','descr':'''<f8''','fortran_order':True,\\\n'shape':(4,4,4)}"}) {
        INFO(text);
        REQUIRE(complaint(text).empty());
        const NumpyHeader read = parse_numpy_header(text);
        CHECK(read.fortran_order);
        CHECK(read.shape == Sizes{4, 4, 4});
        CHECK(read.value_bytes == 8);
    }
    CHECK(parse_numpy_header(header("'<f8'", "(7,)")).shape == Sizes{7});
    CHECK(parse_numpy_header(header("'<f8'", "()")).shape.empty());
    CHECK_FALSE(parse_numpy_header(header("'<f8'", "(7,)")).fortran_order);
}

TEST_CASE("types are float64 and float32 by every name, in both orders of bytes") {
    const bool little = std::endian::native == std::endian::little;
    for (const std::string type : {"f8", "=f8", "|f8", "d", "=d", "float64", "double", "float"}) {
        const NumpyHeader read = parse_numpy_header(header("'" + type + "'", "(4,)"));
        CHECK((read.value_bytes == 8 && !read.swapped));
    }
    for (const std::string type : {"f4", "f", "|f4", "float32", "single"}) {
        const NumpyHeader read = parse_numpy_header(header("'" + type + "'", "(4,)"));
        CHECK((read.value_bytes == 4 && !read.swapped));
    }
    for (const std::string type : {"f8", "d", "f4", "f"}) {
        CHECK(parse_numpy_header(header("'<" + type + "'", "(4,)")).swapped != little);
        CHECK(parse_numpy_header(header("'>" + type + "'", "(4,)")).swapped == little);
    }
    for (const std::string type : {"'<i8'", "'<c16'", "'<f2'", "'<f16'", "'|O'", "'<float64'", "'Float64'",
                                   "''", "None", "8", "[('x', '<f8')]", "{'names': []}"})
        CHECK(complaint(header(type, "(4,)")) ==
              "has " + type + " for the type of its values, not 'f8' or 'f4'; write array.astype('f8')");
}

TEST_CASE("other headers are refused in printable text") {
    const std::vector<std::array<std::string, 2>> cases{
        {"", "no Python dictionary, at its end"},
        {"{'descr': '<f8'", "no Python dictionary, at its end"},
        {"{'descr': '<f8", "no Python dictionary, at \"'<f8\""},
        {"{'descr': '<f8' 'shape'", "no Python dictionary, at its end"},
        {header("'<f8'", "(4, 4, 4"), "no Python dictionary, at \"}"},
        {header("'<f8'", "(4, 4,, 4)"), "no Python dictionary, at \", 4)"},
        {header("'<f8'", "(4, 04, 4)"), "no Python dictionary, at \"04, 4)"},
        {header("'<f8'", "(8, \x1b]0;x\a 8)"), "no Python dictionary, at \"\\x1b]0;x\\x07 8)"},
        {header("'<f8'", "(4.0,)"), "no Python dictionary, at \".0,)"},
        {header("'<f8'", "(99999999999999999999,)"), "no Python dictionary, at \"99999"},
        {header("'<f8'", "(4,)") + '\0', "no Python dictionary, at \"\\x00\""},
        {std::string(100000, '('), "no Python dictionary, at \"(((("},
        {"[1]", "without the keys descr, fortran_order and shape alone"},
        {"{}", "without the keys descr, fortran_order and shape alone"},
        {"{'descr': '<f8', 'fortran_order': True, 'shape': (4,), 'x': 1}", "without the keys"},
        {"{'descr': '<f8', 'fortran_order': 1, 'shape': (4,)}", "has 1 for fortran_order"},
        {header("'<f8'", "[4, 4]"), "has [4, 4] for a shape"},
        {header("'<f8'", "(4)"), "has (4) for a shape"},
        {header("'<f8'", "(4, -4)"), "has (4, -4) for a shape"},
        {header("'\x1b[31m\xe9'", "(4,)"), "has '\\x1b[31m\\xe9' for the type"},
    };
    for (const auto& [text, expected] : cases) {
        const std::string found = complaint(text);
        CHECK_THAT(found, Catch::Contains(expected));
        for (const char c : found) CHECK((c >= ' ' && c <= '~'));
    }
}
