#pragma once

// The ledger as rows over all ranks.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/ranks/communicator.hpp"
#include "kernels/timing/ledger.hpp"

namespace keel {

// What one rank took of an operation, per solve.
struct RankTime {
    double calls = 0;
    double seconds = 0;
    double messages = 0, bytes = 0, off_node_messages = 0, off_node_bytes = 0;  // sent
};

// One operation on one level, per solve, over all ranks.
struct TimerRow {
    std::string op;
    int level = 0;
    double calls = 0;  // on rank 0
    double t_min = 0, t_mean = 0, t_max = 0;
    int rank_max = 0;        // the rank that took t_max
    double longest = 0;      // the longest call, of all ranks and solves
    double bytes_moved = 0;  // all ranks, by declared costs
    double flops = 0;        // all ranks
    // Messages sent, those of sums if they are ours: the busiest rank, and all ranks together.
    double messages = 0, bytes = 0, off_node_messages = 0, off_node_bytes = 0;
    double all_messages = 0, all_bytes = 0, all_off_node_messages = 0, all_off_node_bytes = 0;
    double words = 0;        // in all-reduces
    bool predicted = false;  // by a model, not measured: the seconds are those of the rank with most to do
    std::vector<RankTime> by_rank = {};  // where it is asked for
};

// The ledger's entries of so many solves, which took this rank `my_seconds`, and the row "other", what they leave of the
// seconds; complete on rank 0. Collective.
std::vector<TimerRow> gather_timers(const Communicator& comm, const Ledger& ledger, double my_seconds,
                                    int solves, bool by_rank);

// Where the time of a solve goes: seconds a solve, mean over ranks, which add up to those of the rows.
struct Parts {
    double v_cycle = 0;  // work of its smoothing, residuals, restriction and interpolation
    double v_cycle_exchange = 0;
    double bottom = 0;  // all other work on the level that the Krylov method works on
    double bottom_exchange = 0;
    double all_reduce = 0;  // on all levels, waiting for other ranks included
    double other = 0;
};
// The Krylov method works on level `bottom`. Of all exchanges of that level nobody knows who asked for them: they are its own.
Parts parts_of(const std::vector<TimerRow>& rows, int bottom);
// The same of a ledger, this rank's own, which has seen all but `other` of these seconds.
Parts parts_of(const Ledger& ledger, double seconds, int bottom);

// What a solve has to move at least, all ranks together, and what it gains by that.
struct Movement {
    double bytes = 0;    // by declared costs
    double seconds = 0;  // mean over ranks
    double unknowns = 0;
    std::optional<double> digits = {};  // decimal ones, that the residual falls by; nothing where it does not

    double per_unknown() const { return bytes / unknowns; }
    std::optional<double> per_unknown_and_digit() const;
    double share_of(double triad) const;  // of so many bytes a second
};
Movement movement_of(const std::vector<TimerRow>& rows, double unknowns, std::optional<double> digits);

// Decimal digits by which the last residual is less than the first; a residual of zero counts as eps of the
// first. Nothing where it is no less.
std::optional<double> digits_of(std::span<const double> residuals);
// Of several solves, their mean; nothing where one of them has none.
std::optional<double> mean_of(std::span<const std::optional<double>> digits);

double median(std::vector<double> values);  // 0 of none

}  // namespace keel
