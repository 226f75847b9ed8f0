// Arithmetic in twice a double's precision.

#include <catch2/catch.hpp>

#include "kernels/double_double.hpp"

using namespace keel;

namespace {

constexpr double unit = 0x1p-104;  // relative error of the last operation

double distance(const DoubleDouble& a, const DoubleDouble& b) {
    return std::abs(double(a - b)) / std::abs(double(b));
}

}  // namespace

TEST_CASE("sums and products of doubles lose nothing") {
    const DoubleDouble sum = exact_sum(1.0, 0x1p-80);
    CHECK(sum == DoubleDouble(1.0, 0x1p-80));
    CHECK(exact_sum(0x1p-80, 1.0) == sum);
    // (1 + 2^-40)^2 = 1 + 2^-39 + 2^-80
    CHECK(exact_product(1 + 0x1p-40, 1 + 0x1p-40) == DoubleDouble(1 + 0x1p-39, 0x1p-80));
    // In doubles 1e16 + 1 - 1e16 is zero.
    const DoubleDouble one = DoubleDouble(1e16) + DoubleDouble(1.0) + DoubleDouble(-1e16);
    CHECK(one == DoubleDouble(1.0));
}

TEST_CASE("numbers of twofold precision add, multiply, divide and have roots") {
    const DoubleDouble third = DoubleDouble(1.0) / DoubleDouble(3.0);
    CHECK(distance(third + third + third, 1.0) <= unit);
    CHECK(distance(third * DoubleDouble(3.0), 1.0) <= unit);
    const DoubleDouble root = sqrt(DoubleDouble(2.0));
    CHECK(root.low != 0.0);
    CHECK(distance(root * root, 2.0) <= 4 * unit);
    CHECK(distance(sqrt(third) * sqrt(third), third) <= 4 * unit);
    CHECK(sqrt(DoubleDouble(-1.0)) == DoubleDouble(0.0));
    DoubleDouble x = third;
    x += root;
    x -= third;
    CHECK(distance(x, root) <= 4 * unit);
    x *= third;
    x /= root;
    CHECK(distance(x, third) <= 8 * unit);
    CHECK(abs(-third) == third);
    CHECK(DoubleDouble(1.0, -0x1p-80) < DoubleDouble(1.0));
    CHECK_FALSE(DoubleDouble(1.0) < DoubleDouble(1.0));
}

TEST_CASE("a sum has the same bits whichever number is first") {
    for (int n = 1; n < 200; ++n) {
        const DoubleDouble a = DoubleDouble(1.0) / DoubleDouble(n);
        const DoubleDouble b = -sqrt(DoubleDouble(1.0 / n / n + 0x1p-60 * n));
        CHECK(a + b == b + a);
    }
}

TEST_CASE("what is not finite stays so") {
    const double inf = 1e308 * 10;
    CHECK_FALSE(std::isfinite(double(DoubleDouble(inf) + DoubleDouble(1.0))));
    CHECK_FALSE(std::isfinite(double(DoubleDouble(1.0) / DoubleDouble(0.0))));
}
