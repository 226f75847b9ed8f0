#pragma once

// Tables of operations by level: time, communication, bandwidth.

#include <optional>
#include <string>
#include <vector>

#include "miniapp/report/findings.hpp"
#include "miniapp/report/timers.hpp"

namespace keel {

// The mean over ranks, below it the slowest; with `all` also which rank that is, the fastest, and calls.
std::string times_text(const RunFacts& facts, const std::vector<TimerRow>& timers, bool all = false);
// Messages and all-reduces.
std::string communication_text(const RunFacts& facts, const std::vector<TimerRow>& timers);
// Launches, waits and copies of one visit of the bottom level, given their number; empty without a device.
std::string visits_text(const std::vector<TimerRow>& timers, std::size_t bottom, double visits);
// Bytes moved a second, beside the triad's.
std::string bandwidths_text(const RunFacts& facts, const std::vector<TimerRow>& timers);

// The bytes that a solve moves, beside the triad's bandwidth and the digits gained, as a line.
std::string movement_text(const Movement& moved, double triad);

// "64^3" or "64x32x32"; in two dimensions "64^2" or "64x32".
std::string cells_text(const Index& cells, std::size_t dimensions);

}  // namespace keel
