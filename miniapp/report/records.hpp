#pragma once

// The same numbers for programs: one JSON object a line, in full precision; what is not a number is null.

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "miniapp/report/findings.hpp"
#include "miniapp/report/header.hpp"
#include "miniapp/report/timers.hpp"

namespace keel {

using Json = nlohmann::ordered_json;

std::string line_of(const Json& record);
Json number_or_null(const std::optional<double>& value);

// "run", which begins every report: what is known before anything is solved.
Json run_record(const DeckFacts& deck, const RunFacts& facts);
// "timer": one operation on one level.
Json timer_record(const TimerRow& row);
std::string timer_records(const std::vector<TimerRow>& rows);

// What every report ends with: a "check" each, and "result".
std::string closing_records(const Findings& findings);

}  // namespace keel
