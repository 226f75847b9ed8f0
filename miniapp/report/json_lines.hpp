#pragma once

// The same numbers for programs: one JSON object a line, in full precision; what is not a number is null.

#include <string>

#include "miniapp/deck/parameters.hpp"
#include "miniapp/setup/simulation.hpp"

namespace keel {

// Records "run", "solve" (one per measured solve), "timer" (one per operation and level), "check", "result".
std::string json_lines(const Table& table, const Parameters& parameters, const Results& results);

}  // namespace keel
