#pragma once

// Tables of operations by level: time, communication, bandwidth.

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "miniapp/report/findings.hpp"
#include "miniapp/report/timers.hpp"

namespace keel {

// The rows by operation, in the order in which they came, with the entries of each level.
class LevelTables {
  public:
    // The rows must outlive this object.
    LevelTables(const RunFacts& facts, const std::vector<TimerRow>& timers);

    // The mean over ranks, below it the slowest; with `all` also the fastest, which the slowest is, and calls.
    std::string times(bool all = false) const;
    std::string communication() const;  // messages and reductions
    std::string bandwidths() const;     // beside the triad's

  private:
    const TimerRow* find(const std::string& op, int level) const;
    std::string head(const std::string& last) const;
    std::string spread(const std::string& op) const;
    std::string entry(const std::string& text) const;  // of a column

    const RunFacts& facts_;
    std::vector<std::string> ops_;
    std::map<std::pair<std::string, int>, const TimerRow*> cells_;
    int levels_;
    std::size_t width_ = 11;  // of a column
};

// What a solve moves in all, beside the triad's bandwidth and the digits gained, as a line.
std::string movement_text(const Movement& moved, double triad);

// By level the mean time of an exchange in what was measured; every exchange with messages packs once.
std::vector<std::optional<double>> seconds_of_exchanges(const RunFacts& facts,
                                                        const std::vector<TimerRow>& timers);

// "64^3" or "64x32x32"; of the directions that there are.
std::string cells_text(const Index& cells, std::size_t dimensions);

}  // namespace keel
