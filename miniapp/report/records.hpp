#pragma once

// The same numbers for programs: one JSON object a line, in full precision; what is not a number is null.

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "miniapp/report/findings.hpp"
#include "miniapp/report/header.hpp"
#include "miniapp/report/timers.hpp"

namespace keel {

using Json = nlohmann::ordered_json;

std::string line_of(const Json& record);
Json number_or_null(const std::optional<double>& value);

// "run", which begins every report.
Json run_record(const DeckFacts& deck, const RunFacts& facts);
// "timer": one operation on one level.
Json timer_record(const TimerRow& row);

// All of a report: "run", those of the study, a "check" each, and "result".
std::string json_lines(const DeckFacts& deck, const Findings& findings);

}  // namespace keel
