#pragma once

// The choices a user makes about algebraic multigrid, whose keys are those of [amg]. Defaults are the deck's defaults.

#include <array>
#include <cstdint>
#include <string>

#include "kernels/names.hpp"

namespace keel {

// What makes a connection strong: its size against the diagonal entries of both ends, or against the largest of its row.
enum class StrengthRule { symmetric, classical };
constexpr auto names_of(StrengthRule) {
    return std::array{Named<StrengthRule>{StrengthRule::symmetric, "symmetric"},
                      Named<StrengthRule>{StrengthRule::classical, "classical"}};
}

// How rows are put together: about roots more than two connections apart, whatever the ranks; or inside of ranks, one after
// the other, where the result depends on the partition.
enum class AggregationRule { mis2, local };
constexpr auto names_of(AggregationRule) {
    return std::array{Named<AggregationRule>{AggregationRule::mis2, "mis2"},
                      Named<AggregationRule>{AggregationRule::local, "local"}};
}

// What omega is divided by: the largest sum of a row's |a_ij| / |a_ii|, which bounds the spectral radius of D^-1 A; or what some steps
// of Lanczos' method find, which is close below it.
enum class RhoRule { bound, estimate };
constexpr auto names_of(RhoRule) {
    return std::array{Named<RhoRule>{RhoRule::bound, "bound"}, Named<RhoRule>{RhoRule::estimate, "estimate"}};
}

// How the next level comes about: by smoothed aggregation, or by splitting rows into coarse and fine ones and
// interpolating (Ruge and Stueben).
enum class CoarseningRule { aggregation, classical };
constexpr auto names_of(CoarseningRule) {
    return std::array{Named<CoarseningRule>{CoarseningRule::aggregation, "aggregation"},
                      Named<CoarseningRule>{CoarseningRule::classical, "classical"}};
}

// How: PMIS alone, whatever the ranks; or behind the first pass of Ruge and Stueben inside of ranks (HMIS), where the result depends
// on the partition.
enum class SplittingRule { pmis, hmis };
constexpr auto names_of(SplittingRule) {
    return std::array{Named<SplittingRule>{SplittingRule::pmis, "pmis"},
                      Named<SplittingRule>{SplittingRule::hmis, "hmis"}};
}

enum class ClassicalInterpolation { direct, extended_i };
constexpr auto names_of(ClassicalInterpolation) {
    return std::array{Named<ClassicalInterpolation>{ClassicalInterpolation::direct, "direct"},
                      Named<ClassicalInterpolation>{ClassicalInterpolation::extended_i, "extended_i"}};
}

// l1_jacobi divides by the sum of a row's |a_ij|, and so never diverges where A is symmetric and positive definite; chebyshev is the
// polynomial that is least on the upper part of the spectrum of D^-1 A.
enum class AmgSmoother { jacobi, gauss_seidel, l1_jacobi, chebyshev };
constexpr auto names_of(AmgSmoother) {
    return std::array{Named<AmgSmoother>{AmgSmoother::jacobi, "jacobi"},
                      Named<AmgSmoother>{AmgSmoother::gauss_seidel, "gauss_seidel"},
                      Named<AmgSmoother>{AmgSmoother::l1_jacobi, "l1_jacobi"},
                      Named<AmgSmoother>{AmgSmoother::chebyshev, "chebyshev"}};
}

// Where a coarse row lives: with the row that its aggregate is about, or in parts equal to within a row, of all ranks or of the first ones,
// as many as have about as many entries each as a rank has on the finest level.
enum class Ownership { root, even, condensed };
constexpr auto names_of(Ownership) {
    return std::array{Named<Ownership>{Ownership::root, "root"}, Named<Ownership>{Ownership::even, "even"},
                      Named<Ownership>{Ownership::condensed, "condensed"}};
}

// How the coarsest level is solved on: by a dense factorisation, on each rank that has rows of it or on the first of them; or by a
// Krylov method on all of these.
enum class CoarsestRule { replicated, gathered, krylov };
constexpr auto names_of(CoarsestRule) {
    return std::array{Named<CoarsestRule>{CoarsestRule::replicated, "replicated"},
                      Named<CoarsestRule>{CoarsestRule::gathered, "gathered"},
                      Named<CoarsestRule>{CoarsestRule::krylov, "krylov"}};
}

inline constexpr const char* as_all_else = "comm_scheme";

struct AmgOptions {
    CoarseningRule coarsening = CoarseningRule::aggregation;
    StrengthRule strength = StrengthRule::symmetric;
    double theta = 0.0;
    AggregationRule aggregation = AggregationRule::mis2;
    int sweeps = 1;            // of Jacobi over the tentative prolongation
    double omega = 4.0 / 3.0;  // over rho: their weight
    RhoRule rho = RhoRule::bound;
    SplittingRule splitting = SplittingRule::pmis;
    ClassicalInterpolation interpolation = ClassicalInterpolation::extended_i;
    double truncation = 0.0;  // of weights below so much of the largest of their row
    AmgSmoother smoother = AmgSmoother::jacobi;
    int degree = 2;  // of Chebyshev's polynomial
    Ownership ownership = Ownership::root;
    // By which rows of matrices travel in set-up, a candidate's name; or as it is chosen for all else.
    std::string rows_scheme = as_all_else;
    std::int64_t max_coarse = 50;  // rows of a level that is not coarsened any more
    int max_levels = 20;
    CoarsestRule coarsest = CoarsestRule::replicated;
    std::int64_t max_dense = 4000;  // rows of the coarsest level at the most, where it is factorised
    std::string coarsest_solver = "cg";
    double coarsest_tolerance = 1e-3;  // reduction of the residual's 2-norm, a visit
    int coarsest_iterations = 500;     // of a visit, at the most
    std::uint64_t seed = 0;

    // Whether levels have the same rows on any number of ranks.
    bool is_independent_of_ranks() const {
        return coarsening == CoarseningRule::aggregation ? aggregation == AggregationRule::mis2
                                                         : splitting == SplittingRule::pmis;
    }
};

// Comparisons with a threshold take so much less, so that exact ties are strong whatever they were rounded to; entries
// below it, relative to what they are compared with, are the noise of some that cancelled, and never strong.
inline constexpr double slack = 1e-10;

}  // namespace keel
