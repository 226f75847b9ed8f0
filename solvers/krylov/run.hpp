#pragma once

// A run of a Krylov method: its input, its end, its costs. The loops of methods that a device runs in one
// launch are templates over a system, the vocabulary of the vectors and of the operator: fields and ranks
// (systems/linear_system.hpp), or one block of threads of a device (kernels/backends/gpu/block_system.hpp).

#include <array>
#include <cmath>

#include "kernels/cost.hpp"
#include "kernels/names.hpp"

namespace keel {

// How a solve ends. The last two are those of a visit to the bottom grid that measured nothing: relaxation
// tests nothing, and ranks without the bottom grid wait for the others.
enum class Outcome { converged, iteration_limit, stagnated, breakdown, not_tested, on_other_ranks };
constexpr auto names_of(Outcome) {
    return std::array{"converged", "iteration_limit", "stagnated",
                      "breakdown", "not_tested",      "on_other_ranks"};
}

// Quantities whose vanishing, or not being finite, is a breakdown.
enum class Vanished { nothing, r0_Ap, omega, r0_r, p_Ap, r_r, lowest_eigenvalue, x, b_b };
constexpr auto names_of(Vanished) {
    return std::array{"", "(r~,Ap)", "omega", "(r~,r)", "(p,Ap)", "(r,r)", "lowest eigenvalue", "x", "(b,b)"};
}

// Whether a quantity that the method is about to divide by, or has just computed, is unusable.
constexpr bool unusable(double value) {
    return value == 0.0 || !std::isfinite(value);
}

struct Stop {
    double tolerance;     // on |b - A x| / |b|, 2-norms of the system as it is scaled
    int limit;            // iterations in all
    int max_restarts;     // under the verify-and-restart rule
    bool by_max = false;  // max norms in place of 2-norms
    bool single = false;  // vectors are to have room in single precision
};

template <class Vector>
struct KrylovRun {
    Vector x;       // improved in place
    Vector r;       // b - A x on entry; the method's to overwrite
    double rr;      // (r, r) on entry
    double target;  // stop at |r| <= target
    int limit;      // iterations left
    double scale;   // |b|, by which reported residuals are divided
};

// The verdict on a solve.
struct Verdict {
    Outcome outcome = Outcome::converged;
    int iterations = 0;
    int restarts = 0;
    double true_residual = 0;  // |b - A x| / |b| of the x returned
    bool met = true;           // whether the true residual meets the tolerance
    // The same two of the system before it was scaled from the left: a norm that all methods can be compared
    // in.
    double unscaled_residual = 0;
    bool unscaled_met = true;
    Counts counts = {};

    // Whether it converged by the method's word and by the true residual.
    constexpr bool succeeded() const { return met && outcome == Outcome::converged; }
    // Whether there is a true residual.
    constexpr bool tested() const {
        return outcome != Outcome::not_tested && outcome != Outcome::on_other_ranks;
    }
};

}  // namespace keel
