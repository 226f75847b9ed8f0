#pragma once

// The number type of a field or a message.

#include <cstddef>
#include <type_traits>

#include "kernels/names.hpp"

namespace keel {

enum class Precision { fp64, fp32 };
constexpr auto names_of(Precision) {
    return std::array{"double", "single"};
}

constexpr std::size_t bytes_of_value(Precision precision) {
    return precision == Precision::fp32 ? sizeof(float) : sizeof(double);
}

template <class Real>
inline constexpr Precision precision_of = std::is_same_v<Real, float> ? Precision::fp32 : Precision::fp64;

}  // namespace keel
