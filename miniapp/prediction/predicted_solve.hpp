#pragma once

// A solve predicted for a machine, and what becomes of it where ranks are late or messages slower.

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/costs/all_reduce_time.hpp"
#include "miniapp/prediction/solve_time.hpp"

namespace keel {

// Where and how sums travel.
struct Imagined {
    const Topology& topology;
    Model model;
    AllReduceModel all_reduce;
    SumsMove sums;
    // What seconds call the bottom: the level of the Krylov method or, where boxes are merged, all levels from the first one in merged
    // boxes on, which are there in place of a large one.
    LevelRange bottom;
    const CoarsestRanks* coarsest = nullptr;
    std::span<const LevelRanks> fewer = {};
};

// Seconds of a solve, of its bottom, and of all sums in it.
struct Seconds {
    double solve = 0;
    double bottom = 0;
    double all_reduce = 0;
};

// What an all-reduce takes longer, in the table of a predicted solve: on a quiet machine, on a busy one.
inline constexpr std::array<double, 3> noises{0, 60e-6, 200e-6};

// How a solve, or its bottom, takes to slower messages between nodes.
struct LatencyTolerance {
    double messages = 0;  // d seconds / d alpha: messages one after the other
    std::optional<double>
        seconds;  // more for each, that cost 5 % of the time; none where no message leaves a node
};

// The part of a solve's seconds, or of its bottom's, that grows in proportion as a rate shrinks: d ln seconds / d ln (1 / rate).
struct RateShares {
    double memory = 0;   // of computing, from and to memory or cache
    double network = 0;  // of messages between nodes, and of a node's injection
};

struct PredictedSolve {
    std::string solver;
    SolveTime time;
    Seconds seconds;
    std::array<Seconds, noises.size()> noisy{};  // with so much besides the machine's own
    LatencyTolerance bottom, solve;
    RateShares bottom_rates, solve_rates;
    std::optional<SolveTime> setup{};  // of algebraic multigrid, where that takes part
    double cycles = 0;
    double iterations = 0;  // in all visits to the bottom
    bool given = false;     // these, by the deck
    // Of the solve that stood for it.
    int rehearsed_cycles = 0;
    long rehearsed_iterations = 0;
    bool converged = false;
    std::string outcome;
};

// Fills in the times of the slices' solve. Throws MissingParameter.
void predict_times(PredictedSolve& solve, std::span<const Slice> slices,
                   const std::vector<ExchangePlan>& plans, const Imagined& where);

}  // namespace keel
