#pragma once

// Index space: cells are numbered globally from 0 in each direction, x fastest.

#include <array>
#include <cstddef>

namespace keel {

using Index = std::array<int, 3>;

constexpr std::size_t product(const Index& n) {
    return static_cast<std::size_t>(n[0]) * static_cast<std::size_t>(n[1]) * static_cast<std::size_t>(n[2]);
}

constexpr Index operator+(const Index& a, const Index& b) {
    return {a[0] + b[0], a[1] + b[1], a[2] + b[2]};
}
constexpr Index operator-(const Index& a) {
    return {-a[0], -a[1], -a[2]};
}
constexpr Index operator*(int s, const Index& a) {
    return {s * a[0], s * a[1], s * a[2]};
}
constexpr Index operator*(const Index& a, const Index& b) {  // direction by direction
    return {a[0] * b[0], a[1] * b[1], a[2] * b[2]};
}

// Values at the two ends of a direction; one value stands at both.
template <class T>
struct Sides {
    T low{};
    T high{};

    constexpr Sides() = default;
    constexpr Sides(T both) : low(both), high(both) {}
    constexpr Sides(T at_low, T at_high) : low(at_low), high(at_high) {}
    friend constexpr bool operator==(const Sides& a, const Sides& b) {
        return a.low == b.low && a.high == b.high;
    }
};

// A rectangular set of cells, in the index space of the box that holds it (0 = the box's first cell).
struct Region {
    Index lo{};
    Index size{};

    constexpr std::size_t cells() const { return product(size); }
    friend constexpr bool operator==(const Region&, const Region&) = default;
};

// n cells, layers or steps in each direction that there is. In two dimensions there is no z: a box is
// one plane, and has nothing below and above it.
constexpr Index in_each_direction(int n, std::size_t dimensions, int without_z) {
    return {n, n, dimensions == 2 ? without_z : n};
}

// The cells of a cubic box of `width`, and those with `ghosts` layers around them.
constexpr Region cube(int width) {
    return {{}, {width, width, width}};
}
constexpr Region cube(int width, int ghosts) {
    const int n = width + 2 * ghosts;
    return {{-ghosts, -ghosts, -ghosts}, {n, n, n}};
}

}  // namespace keel
