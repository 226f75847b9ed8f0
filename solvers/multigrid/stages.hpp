#pragma once

// Iterative refinement by stages: how many cycles in single precision follow a residual in double precision.

#include <algorithm>
#include <cmath>
#include <span>

namespace keel {

// The data that a solve has before its first stage.
struct StageRule {
    double tolerance = 0;
    double presumed_factor = 0.1;  // a cycle's, as long as none has been seen
    int cells = 1;                 // along the longest side of the domain
    bool rounds_faces = false;     // cycles work on faces of 16 bits

    // A residual in double precision after every cycle would take back a good part of what single precision
    // gains.
    static constexpr int longest = 5;
    // Enough to see what a cycle gains, and few enough to see it before the rounding of single precision.
    static constexpr int first = 3;

    // The digits that a stage can gain: the rounding of e in single precision leaves some part of |L| max|e|
    // of the residual, and |L| grows as cells^2. Seen with a = 0: 4e-5 with 64 cells, 1.4e-4 with 128 in two
    // dimensions.
    // Rounded faces solve another problem, whose solution differs by 2^-11 in the norm of the operator: with
    // three digits a stage took 10 cycles for 9.
    double digits() const { return std::clamp(8 - 2 * std::log10(cells), 2.0, rounds_faces ? 2.0 : 5.0); }
};

// Given the residuals so far and the numbers of cycles before them: the cycles that reach the tolerance, in
// stages of equal length. Too few are mended by a short stage, which costs less than a cycle too many: so the
// part of a cycle that is wanted beyond whole ones is left out unless it is the larger one.
inline int cycles_of_next_stage(std::span<const double> residuals, std::span<const int> measured_after,
                                const StageRule& rule) {
    constexpr double left_out = 0.5;
    double digits_of_cycle = -std::log10(rule.presumed_factor);
    if (const std::size_t n = residuals.size(); n > 1)
        digits_of_cycle =
            std::log10(residuals[n - 2] / residuals[n - 1]) / (measured_after[n - 1] - measured_after[n - 2]);
    const double digits = std::log10(residuals.back() / rule.tolerance);
    const bool gains = digits_of_cycle > 0 && digits / digits_of_cycle < 100;
    if (!gains) return StageRule::longest;
    const int cycles = std::max(1, static_cast<int>(std::ceil(digits / digits_of_cycle - left_out)));
    const int most = std::clamp(static_cast<int>(std::lround(rule.digits() / digits_of_cycle)), 1,
                                residuals.size() > 1 ? StageRule::longest : StageRule::first);
    const int stages = (cycles + most - 1) / most;
    return (cycles + stages - 1) / stages;
}

// The factors by which a residual is converted to single precision, and the correction back.
struct CorrectionScales {
    double residual = 1;
    double correction = 1;
};

// Powers of two, which round nothing: a residual of maximum `norm` becomes at least 0.5 and less than 1.
// Cycles solve with `single_scale` L. Near the ends of the range of double a factor would not be a normal
// number: the clamp keeps it one. The residual is then further from 1, for which single precision, from
// 2^-126 to 2^127, has room.
inline CorrectionScales correction_scales(double norm, double single_scale) {
    const int of_operator = std::ilogb(single_scale);
    const int wanted = -1 - std::ilogb(norm);
    const int exponent =
        std::clamp(wanted, std::max(-1022, of_operator - 1023), std::min(1023, of_operator + 1022));
    return {std::ldexp(1.0, exponent), std::ldexp(1.0, of_operator - exponent)};
}

}  // namespace keel
