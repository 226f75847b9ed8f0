#pragma once

// What --dry-run foretells of a solve with a sparse matrix on comm.machine: seconds.

#include <string>

#include "comm/patterns/pattern.hpp"
#include "miniapp/modes/spmv/amg/imagined_amg.hpp"
#include "miniapp/modes/spmv/matrix_memory.hpp"
#include "miniapp/prediction/predicted_solve.hpp"
#include "miniapp/setup/resolved.hpp"

namespace keel {

// Whether a dry run is asked for seconds: the machine's file says how fast it computes, and something is
// solved.
bool predicts(const MatrixUse& use, const Resolved& resolved);
// Why it does not foretell them although it should, of which the remedy is part; empty if it does. The whole
// matrix is to be solved with in so many bytes on one rank, and within the limit. `amg` is null without
// algebraic multigrid, or where it depends on ranks.
std::string why_not_predicted(const MatrixUse& use, const Resolved& resolved, const MatrixSize& size,
                              double available, const DryRunLimit& limit, const ImaginedAmg* amg);

// What the rank with most has of the matrix.
struct LargestPart {
    std::size_t rows = 0;
    std::size_t entries = 0;
};
// By solving with the whole matrix on the calling rank alone: work of the largest part, and exchanges by the
// scheme's plan for all ranks. With bottom.assumed_iterations fewer are done, and stand for as many.
PredictedSolve predict(const MatrixUse& use, const Resolved& resolved, const GlobalRows& all,
                       const LargestPart& largest, const Pattern& pattern, const SchemeOptions& scheme);

// With algebraic multigrid, from its rehearsal, which is there: set-up and solve, the work of the rank with
// most of each level, and exchanges by the chosen plan of each level and purpose.
PredictedSolve predict(const MatrixUse& use, const Resolved& resolved, const ImaginedAmg& amg);

// What is solved with here, where it stands for a solve of given iterations: no more of them than tell their
// proportions.
BottomOptions rehearsed_options(const NamedSolver& solver);

std::string prediction_text(const MatrixUse& use, const PredictedSolve& solve, const Resolved& resolved,
                            const MatrixSize& size);
std::string prediction_records(const PredictedSolve& solve, const Resolved& resolved, const MatrixSize& size);

}  // namespace keel
