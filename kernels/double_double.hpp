#pragma once

// Numbers of twice a double's precision: sums of two doubles, the second of which is what the first has lost
// (Dekker 1971; Knuth; with a fused multiply-add Ogita, Rump and Oishi 2005). Nothing here may be
// reassociated, as -ffast-math does. A product is a fused multiply-add of zero, too, because compilers would
// else fuse it with the sum that it goes into.

#include <cmath>

namespace keel {

struct DoubleDouble {
    double high = 0;
    double low = 0;

    constexpr DoubleDouble() = default;
    constexpr DoubleDouble(double value) : high(value) {}
    constexpr DoubleDouble(double of_high, double of_low) : high(of_high), low(of_low) {}
    explicit constexpr operator double() const { return high; }

    constexpr DoubleDouble operator-() const { return {-high, -low}; }
    constexpr DoubleDouble& operator+=(const DoubleDouble& b);
    constexpr DoubleDouble& operator-=(const DoubleDouble& b);
    constexpr DoubleDouble& operator*=(const DoubleDouble& b);
    constexpr DoubleDouble& operator/=(const DoubleDouble& b);
};

// a + b, without error
constexpr DoubleDouble exact_sum(double a, double b) {
    const double sum = a + b;
    const double of_b = sum - a;
    return {sum, (a - (sum - of_b)) + (b - of_b)};
}

// The same where |a| >= |b|.
constexpr DoubleDouble exact_sum_of_ordered(double a, double b) {
    const double sum = a + b;
    return {sum, b - (sum - a)};
}

// a b, without error
constexpr DoubleDouble exact_product(double a, double b) {
    const double product = std::fma(a, b, 0.0);
    return {product, std::fma(a, b, -product)};
}

// The same bits whichever is first, as sums over ranks want it.
constexpr DoubleDouble operator+(const DoubleDouble& a, const DoubleDouble& b) {
    const DoubleDouble high = exact_sum(a.high, b.high);
    const DoubleDouble low = exact_sum(a.low, b.low);
    const DoubleDouble sum = exact_sum_of_ordered(high.high, high.low + low.high);
    return exact_sum_of_ordered(sum.high, sum.low + low.low);
}
constexpr DoubleDouble operator-(const DoubleDouble& a, const DoubleDouble& b) {
    return a + -b;
}
constexpr DoubleDouble operator*(const DoubleDouble& a, const DoubleDouble& b) {
    const DoubleDouble product = exact_product(a.high, b.high);
    return exact_sum_of_ordered(product.high, product.low + (a.high * b.low + a.low * b.high));
}
constexpr DoubleDouble operator/(const DoubleDouble& a, const DoubleDouble& b) {
    const double first = a.high / b.high;
    const DoubleDouble rest = a - b * DoubleDouble(first);
    const double second = rest.high / b.high;
    const double third = (rest - b * DoubleDouble(second)).high / b.high;
    return exact_sum_of_ordered(first, second) + DoubleDouble(third);
}
// 0 of what is not positive
inline DoubleDouble sqrt(const DoubleDouble& a) {
    if (!(a.high > 0)) return {};
    const double root = std::sqrt(a.high);
    return exact_sum_of_ordered(root, (a - exact_product(root, root)).high / (2 * root));
}
constexpr DoubleDouble abs(const DoubleDouble& a) {
    return a.high < 0 ? -a : a;
}

constexpr DoubleDouble& DoubleDouble::operator+=(const DoubleDouble& b) {
    return *this = *this + b;
}
constexpr DoubleDouble& DoubleDouble::operator-=(const DoubleDouble& b) {
    return *this = *this - b;
}
constexpr DoubleDouble& DoubleDouble::operator*=(const DoubleDouble& b) {
    return *this = *this * b;
}
constexpr DoubleDouble& DoubleDouble::operator/=(const DoubleDouble& b) {
    return *this = *this / b;
}

constexpr bool operator<(const DoubleDouble& a, const DoubleDouble& b) {
    return a.high < b.high || (a.high == b.high && a.low < b.low);
}
constexpr bool operator==(const DoubleDouble& a, const DoubleDouble& b) {
    return a.high == b.high && a.low == b.low;
}

}  // namespace keel
