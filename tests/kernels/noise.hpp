#pragma once

// Values of fields without structure, and the rounding of an operation on them.

#include <cmath>

#include "kernels/layout/layout.hpp"

namespace keel::test {

// The value of a cell in a field that goes by a number. Field 14 is one over a diagonal, far from 0.
inline double noise(int field, const Index& c) {
    if (field == 14) return 1 / (3 + noise(15, c));
    return std::sin(1.3 * c[0] + 2.1 * c[1] * c[1] + 0.7 * c[2] * c[0] + 5.0 * field) + 0.1 * field;
}

inline constexpr double rounding = 1e-13;

}  // namespace keel::test
