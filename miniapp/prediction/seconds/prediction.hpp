#pragma once

// The prediction of a mode's solves on virtual ranks of comm.machine, whatever they solve, and how their
// seconds grow with delays and slower messages; or why there is none.

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "miniapp/prediction/seconds/solve_time.hpp"
#include "miniapp/setup/resolved.hpp"

namespace keel {

// Seconds of a solve, of its bottom, and of all sums in it.
struct Seconds {
    double solve = 0;
    double bottom = 0;
    double all_reduce = 0;
};

// The delays of each all-reduce in the table of a predicted solve: none besides the machine's own, and those
// of a busy machine.
inline constexpr std::array<double, 3> noises{0, 60e-6, 200e-6};

// A number that a method has of its own: heading of its column, field of its record.
struct SolveCount {
    const char* heading;
    const char* field;
    double value = 0;
};

struct PredictedSolve {
    std::string solver;
    SolveTime time;                                // no rows if the proxy solve failed
    std::array<Seconds, noises.size()> delayed{};  // with such a delay besides the machine's own
    // Messages between nodes that follow each other: d seconds / d alpha.
    double messages = 0, bottom_messages = 0;
    std::optional<SolveTime> setup{};  // algebraic multigrid's, where that takes part
    std::vector<SolveCount> counts;    // cycles and iterations
    double visits = 0;                 // to the bottom
    bool assumed = false;              // the iterations, by the deck
    // The proxy solve's counts and end.
    int proxy_cycles = 0;
    long proxy_iterations = 0;
    bool converged = false;
    std::string outcome;
    std::string more = "{}";     // JSON: further fields of its record
    std::string costs = "null";  // JSON: event_costs()

    bool is_timed() const { return !time.rows.empty(); }
    const Seconds& seconds() const { return delayed.front(); }
};

// Fills in the times of a solve: seconds of its trace, slice by slice, by these costs. `bottom`: the levels
// that seconds call the bottom: that of the Krylov method or, where boxes are merged, all from the first
// merged one on, which are there in place of a large one. Throws MissingParameter.
void predict(PredictedSolve& solve, std::span<const Slice> slices, VariedCosts& costs,
             const LevelRange& bottom);

struct Prediction {
    std::string why_not;  // not empty: seconds are asked for and not predicted; with the remedy
    std::vector<PredictedSolve> solves;  // others are compared with the first one
    std::vector<std::string> sources;    // the origin of each kind of number but modelled seconds
    std::string tables;                  // times by level or operation, where they are shown
    std::string remarks;                 // on solvers that are not predicted
    int bottom = 0;                      // level on which the Krylov method works
};

// Whether a dry run is asked for seconds: the machine's file says how fast it computes.
bool predicts(const Resolved& resolved);
// The reason behind "no seconds are predicted" if the machine's file does not say so; else empty.
std::string why_no_machine_computes(const Resolved& resolved);

// The solves side by side: counts and seconds, speed-ups, delays, slow messages; or a remark why not.
std::string prediction_text(const Prediction& prediction, const Resolved& resolved);
// A "solve" for each, and its timers.
std::string prediction_records(const Prediction& prediction, const Resolved& resolved);

}  // namespace keel
