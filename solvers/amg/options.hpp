#pragma once

// The choices of algebraic multigrid. Defaults are the deck's defaults.

#include <array>
#include <cstdint>
#include <string>

#include "kernels/names.hpp"

namespace keel {

// The next level comes from smoothed aggregation about the roots of a distance-2 independent set
// (MIS-2), of rows whose strength is symmetric, or that of either row as RAPtor has it (aggregation_rows).
// Its prolongation is smoothed by two sweeps (aggregation_twice) or one. Near-null vectors are those of the
// matrix, aggregated by node, or the constants alone, by row (aggregation_constants). Or the next level
// comes by splitting rows into coarse and fine ones (Ruge and Stueben) with extended+i interpolation.
// The splitting is PMIS, or the first pass of Ruge and Stueben inside each rank followed by PMIS (HMIS),
// which alone depends on the partition.
enum class CoarseningRule {
    aggregation,
    aggregation_rows,
    aggregation_twice,
    aggregation_constants,
    pmis,
    hmis
};
constexpr auto names_of(CoarseningRule) {
    return std::array{"aggregation", "aggregation_rows", "aggregation_twice", "aggregation_constants", "pmis",
                      "hmis"};
}

// Gauss-Seidel is hybrid: it reads the old values of other ranks.
enum class AmgSmoother { jacobi, gauss_seidel };
constexpr auto names_of(AmgSmoother) {
    return std::array{"jacobi", "gauss_seidel"};
}

// The owner of a coarse row: the rank that owns its root; or equal parts of the first ranks, whose number
// keeps about as many entries a rank as the finest level has.
enum class Ownership { root, condensed };
constexpr auto names_of(Ownership) {
    return std::array{"root", "condensed"};
}

// The solver of the coarsest level: a dense factorisation on each rank that has rows of it, or on the first
// of these ranks; or conjugate gradients on all of them.
enum class CoarsestRule { replicated, gathered, krylov };
constexpr auto names_of(CoarsestRule) {
    return std::array{"replicated", "gathered", "krylov"};
}

inline constexpr const char* as_all_else = "comm_scheme";

inline constexpr int most_amg_levels = 20;

struct AmgOptions {
    CoarseningRule coarsening = CoarseningRule::aggregation;
    double theta = 0.0;  // strength threshold
    // No keys of the deck:
    double truncation = 0.3;       // classical: drops weights below this part of the row's largest
    std::int64_t max_coarse = 50;  // a level of at most this many rows is the coarsest
    AmgSmoother smoother = AmgSmoother::jacobi;
    Ownership ownership = Ownership::root;
    // The scheme by which rows of matrices travel in set-up: the name of a candidate, or the scheme chosen
    // for all else.
    std::string rows_scheme = as_all_else;
    CoarsestRule coarsest = CoarsestRule::replicated;
    std::int64_t max_dense = 4000;  // the most rows of a coarsest level that is factorised

    bool aggregates() const {
        return coarsening != CoarseningRule::pmis && coarsening != CoarseningRule::hmis;
    }
    // Whether near-null vectors of the matrix take the place of the constants.
    bool takes_near_null() const {
        return aggregates() && coarsening != CoarseningRule::aggregation_constants;
    }
    // Jacobi sweeps over the tentative prolongation.
    int sweeps() const { return coarsening == CoarseningRule::aggregation_twice ? 2 : 1; }
};

// The relative slack of comparisons with a threshold, so that ties are strong however they were rounded.
// Entries below it, relative to the other side, are noise of cancellation and never strong.
inline constexpr double slack = 1e-10;

}  // namespace keel
