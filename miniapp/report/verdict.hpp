#pragma once

// The verdict of a report: in three lines, where the time of a solve went and at which rate.

#include <string>
#include <vector>

#include "miniapp/report/findings.hpp"
#include "miniapp/report/timers.hpp"

namespace keel {

struct TimeVerdict {
    std::string text;
    std::string record;  // the same numbers, and the lines
};

// The verdict on the timers of a solve, which are the mean of `solves`. Both are empty if no operation took
// time; the text is one line if all solves together are too short. `solver` is that of the timers' records;
// `remedy` names what is predicted to help; both may be empty.
TimeVerdict make_verdict(const RunFacts& facts, const std::vector<TimerRow>& timers, int solves,
                         const std::string& solver, const std::string& remedy);

}  // namespace keel
