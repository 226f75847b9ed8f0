#pragma once

// The ledger as rows over all ranks.

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/plans/plan.hpp"
#include "comm/ranks/communicator.hpp"
#include "kernels/timing/ledger.hpp"

namespace keel {

// One operation on one rank, per solve.
struct RankTime {
    double calls = 0;
    double seconds = 0;
    Volume sent;
};

// One operation on one level, per solve, over all ranks.
struct TimerRow {
    std::string op;
    int level = 0;
    double calls = 0;  // on rank 0
    double t_min = 0, t_mean = 0, t_max = 0;
    int rank_max = 0;        // the rank that took t_max
    double longest = 0;      // the longest call of all ranks and solves
    double bytes_moved = 0;  // all ranks, by declared costs
    double flops = 0;        // all ranks
    Volume most_sent = {};   // each number of the rank that has most; messages inside of MPI are not counted
    Volume all_sent = {};    // all ranks together
    double words = 0;        // in all-reduces
    std::array<double, DeviceCounts::numbers().size()> device{};  // rank 0's
    bool predicted = false;              // by a model: the seconds are those of the rank with most to do
    std::vector<RankTime> by_rank = {};  // if asked for
};

// The rows of a ledger of `solves` solves, which took this rank `my_seconds`, and the row "other", the
// seconds that no operation booked; complete on rank 0. Collective.
std::vector<TimerRow> gather_timers(const Communicator& comm, const Ledger& ledger, double my_seconds,
                                    int solves, bool by_rank);

// The parts of the time of a solve: seconds a solve, mean over ranks, which add up to those of the rows.
struct Parts {
    double v_cycle = 0;  // work of its smoothing, residuals, restriction and interpolation
    double v_cycle_exchange = 0;
    double bottom = 0;  // all other work on the level that the Krylov method works on
    double bottom_exchange = 0;
    double all_reduce = 0;  // on all levels, waiting for other ranks included
    double other = 0;
};
// The Krylov method works on level `bottom`. All exchanges of that level are booked as the bottom's: the
// ledger does not separate them.
Parts parts_of(const std::vector<TimerRow>& rows, int bottom);

// The least bytes that a solve has to move, all ranks together, and the digits gained by that.
struct Movement {
    double bytes = 0;    // by declared costs
    double seconds = 0;  // mean over ranks
    double unknowns = 0;
    std::optional<double> digits = {};  // decimal ones, that the residual falls by; nothing if it does not

    double per_unknown() const { return bytes / unknowns; }
    std::optional<double> per_unknown_and_digit() const;
    double share_of(double triad) const;  // `triad` in bytes a second
};
Movement movement_of(const std::vector<TimerRow>& rows, double unknowns, std::optional<double> digits);

// Decimal digits by which the last residual is less than the first; a residual of zero counts as eps of the
// first. Nothing if it is no less.
std::optional<double> digits_of(std::span<const double> residuals);
// The mean over solves; nothing if one of them has none.
std::optional<double> mean_of(std::span<const std::optional<double>> digits);

double median(std::vector<double> values);  // 0 of none

}  // namespace keel
