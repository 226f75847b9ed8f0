#pragma once

// Numbers that the rows of enlarged methods share, by formulas in t, the columns of their blocks.

#include <string>

#include "kernels/bodies/vector.hpp"
#include "solvers/krylov/methods.hpp"

namespace keel {

using FormulaInT = double (*)(double t);

inline Quantity in_t(const std::string& text, FormulaInT formula) {
    return {text, [formula](const BottomOptions& o) { return formula(o.block); }};
}

// A row with the properties that all enlarged methods share.
inline Method enlarged_method(const char* name, const char* source) {
    return {
        .name = name,
        .source = source,
        .use = {},
        .scaling = DiagonalScaling::symmetric,
        .exchanges = 1,
        .applications = in_t("t", [](double t) { return t; }),
        .at_once = in_t("", [](double t) { return t; }),
        .keys = {"block", "splitting"},
        .independent = Independent{.key = "block", .value = &BottomOptions::block},
    };
}

// Flops per cell: of `count` combinations of n vectors ...
inline double combinations(double count, double n) {
    return count * combine_flops(static_cast<std::size_t>(n));
}
// ... and of t combinations of others + 1, others + 2, ..., others + t vectors.
inline double triangle(double t, double others) {
    double flops = 0;
    for (double n = 1; n <= t; ++n) flops += combinations(1, others + n);
    return flops;
}

}  // namespace keel
