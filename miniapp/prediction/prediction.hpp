#pragma once

// The prediction of a mode's solves on comm.machine, whatever they solve, or why there is none: text and
// records.

#include <string>
#include <vector>

#include "miniapp/prediction/predicted_solve.hpp"
#include "miniapp/report/records/records.hpp"
#include "miniapp/setup/resolved.hpp"

namespace keel {

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

// The solves side by side: counts and seconds, speed-ups, delays, slow messages; or a remark why not.
std::string prediction_text(const Prediction& prediction, const Resolved& resolved);
// A "solve" for each, and its timers.
std::string prediction_records(const Prediction& prediction, const Resolved& resolved);

}  // namespace keel
