#pragma once

// Numbers of twice a double's precision as entries of Eigen's matrices.

#include <Eigen/Core>

#include "kernels/double_double.hpp"

template <>
struct Eigen::NumTraits<keel::DoubleDouble> : Eigen::GenericNumTraits<keel::DoubleDouble> {
    using Real = keel::DoubleDouble;
    using NonInteger = keel::DoubleDouble;
    using Nested = keel::DoubleDouble;
    using Literal = double;
    enum {
        IsComplex = 0,
        IsInteger = 0,
        IsSigned = 1,
        RequireInitialization = 1,
        ReadCost = 2,
        AddCost = 20,
        MulCost = 12
    };
};
