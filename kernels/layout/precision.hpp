#pragma once

// The number type of a field or a message.

#include <cstddef>
#include <type_traits>

#include "kernels/layout/half.hpp"
#include "kernels/names.hpp"

namespace keel {

// Faces alone have 16 bits, messages never: fp16 has no name in a deck.
enum class Precision { fp64, fp32, fp16 };
constexpr auto names_of(Precision) {
    return std::array{"double", "single"};
}

constexpr std::size_t bytes_of_value(Precision precision) {
    return precision == Precision::fp64 ? sizeof(double) : precision == Precision::fp32 ? sizeof(float) : 2;
}

template <class Real>
inline constexpr Precision precision_of = std::is_same_v<Real, Half>    ? Precision::fp16
                                          : std::is_same_v<Real, float> ? Precision::fp32
                                                                        : Precision::fp64;

}  // namespace keel
