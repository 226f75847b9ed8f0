#pragma once

// What is told of predicted solves, whatever they solve: tables and records.

#include <span>
#include <string>

#include "miniapp/prediction/predicted_solve.hpp"
#include "miniapp/report/records/records.hpp"
#include "miniapp/setup/resolved.hpp"

namespace keel {

// For which machine, and where each kind of number comes from.
std::string sources_text(const Resolved& resolved, std::span<const std::string> sources);

// Side by side, the one that others are compared with first: counts and seconds, speed-ups, late ranks, slow messages.
std::string solves_text(std::span<const PredictedSolve> solves);

// The record of one of the solves, whose Krylov method works on level `bottom`, but for what it was computed on; and its timers.
Json solve_json(std::span<const PredictedSolve> solves, const PredictedSolve& solve, const Resolved& resolved,
                int bottom);
std::string timer_records(std::span<const PredictedSolve> solves, const PredictedSolve& solve);

}  // namespace keel
