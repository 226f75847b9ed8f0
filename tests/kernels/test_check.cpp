// The message of a failed check.

#include <catch2/catch.hpp>

#include "kernels/check.hpp"

using namespace keel;

TEST_CASE("a check that holds says nothing") {
    CHECK_NOTHROW(check(true, "fine"));
    CHECK_NOTHROW(check_equal(3, 3, "fine"));
    CHECK_NOTHROW(check_at_least(3, 3, "fine"));
    CHECK_NOTHROW(check_at_most(3, 3, "fine"));
}

TEST_CASE("a check that fails says where it stands, what is wrong and the values compared") {
    const std::string here = std::string(__FILE__) + ":";
    const int line = __LINE__;
    CHECK_THROWS_WITH(check(false, "one is two"), here + std::to_string(line + 1) + ": one is two");
    CHECK_THROWS_WITH(
        check_equal(std::size_t{3}, std::size_t{4}, "as many boxes as owners"),
        Catch::StartsWith(here) && Catch::EndsWith(": as many boxes as owners (3, expected 4)"));
    CHECK_THROWS_WITH(check_at_least(-1, 0, "layers"), Catch::EndsWith(": layers (-1, at least 0)"));
    CHECK_THROWS_WITH(check_at_most(9L, 8L, "columns"), Catch::EndsWith(": columns (9, at most 8)"));
    CHECK_THROWS_AS(check(false, ""), std::logic_error);
}
