// Headers of .npy files: those of float64 and float32 arrays are read, whoever wrote them.

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

TEST_CASE("a header is read whatever its blanks, its quotes and the order of its keys") {
    for (const std::string text :
         {"{'descr': '<f8', 'fortran_order': True, 'shape': (4, 4, 4), }          \n",
          "{'descr':'<f8','fortran_order':True,'shape':(4,4,4,),}",
          "{'descr': '<f8', 'fortran_order': True, 'shape': (4, 4, 4, ), }",
          "{\"descr\": \"<f8\", \"fortran_order\": True, \"shape\": (4, 4, 4)}",
          "{'descr':'<f8','fortran_order':True,'shape':(4L,4L,4L)}",
          "  {'shape':(4 ,4\t, 4), 'fortran_order' : True ,'descr':'<f8'}\n\n"}) {
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
    for (const std::string type : {"\"<i8\"", "\"<c16\"", "\"<f2\"", "\"<f16\"", "\"|O\"", "\"<float64\"",
                                   "\"Float64\"", "\"\"", "8", "[[\"x\",\"<f8\"]]", "{\"names\":[]}"})
        CHECK(complaint(header(type, "(4,)")) ==
              "has " + type + " for the type of its values, not 'f8' or 'f4'; write array.astype('f8')");
}

TEST_CASE("other headers are refused in printable text") {
    const std::string no_dictionary = "no dictionary of descr, fortran_order and shape alone";
    const std::vector<std::array<std::string, 2>> cases{
        {"", no_dictionary},
        {"{'descr': '<f8'", no_dictionary},
        {"{'descr': '<f8", no_dictionary},
        {header("'<f8'", "(4, 4, 4"), no_dictionary},
        {header("'<f8'", "(4, 4,, 4)"), no_dictionary},
        {header("'<f8'", "(4 4, 4)"), no_dictionary},
        {header("'<f8'", "(8, \x1b]0;x\a 8)"), no_dictionary},
        {header("'<f8'", "(4,)") + '\0', no_dictionary},
        {header("'\x1b[31m\xe9'", "(4,)"), no_dictionary},
        {std::string(100000, '('), no_dictionary},
        {"[1]", no_dictionary},
        {"{}", no_dictionary},
        {"{'descr': '<f8', 'fortran_order': True, 'shape': (4,), 'x': 1}", no_dictionary},
        {"{'descr': '<f8', 'fortran_order': 1, 'shape': (4,)}", "has 1 for fortran_order"},
        {header("'<f8'", "4"), "has 4 for a shape"},
        {header("'<f8'", "(4.0,)"), "has [4.0] for a shape"},
        {header("'<f8'", "(4, -4)"), "has [4,-4] for a shape"},
        {header("'<f8'", "(99999999999999999999,)"), "has [1e+20] for a shape"},
        {header("'\xc3\xa9'", "(4,)"), "has \"\\xc3\\xa9\" for the type"},
    };
    for (const auto& [text, expected] : cases) {
        const std::string found = complaint(text);
        CHECK_THAT(found, Catch::Contains(expected));
        for (const char c : found) CHECK((c >= ' ' && c <= '~'));
    }
}
