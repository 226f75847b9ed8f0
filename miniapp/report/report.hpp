#pragma once

// What a run prints, as text.

#include <string>

#include "miniapp/deck/parameters.hpp"
#include "miniapp/setup/simulation.hpp"

namespace keel {

// Version, build, machine, the deck's non-default keys.
std::string header_text(const Table& table, const Parameters& parameters, const RunFacts& facts);

// What the mode found (convergence of the last solve, or the survey's table), time by operation and level,
// communication, roofline, closing lines.
std::string results_text(const Parameters& parameters, const Results& results);

// "24.3 MB"
std::string megabytes(double bytes);

}  // namespace keel
