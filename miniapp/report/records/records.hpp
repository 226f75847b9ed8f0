#pragma once

// The same numbers for programs: one JSON object a line, in full precision; what is not a number is null.

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "comm/costs/comparison.hpp"
#include "miniapp/report/findings.hpp"
#include "miniapp/report/header.hpp"
#include "miniapp/report/timers.hpp"

namespace keel {

using Json = nlohmann::ordered_json;

// The version of all records' fields: another number if a field is gone or means something else, not if one
// is new. The fields are those of docs/reference/records.schema.json.
inline constexpr int record_schema = 3;

// A whole line, the schema behind the name of the record.
std::string line_of(const Json& record);
Json number_or_null(const std::optional<double>& value);

Json parts_json(const Parts& parts);
Json moved_json(const std::optional<Movement>& moved, double triad);  // null of nothing
Json volume_json(const Volume& volume);
Json domain_json(const DomainFacts& domain);

// "run", which begins every report: what is known before anything is solved.
Json run_record(const DeckFacts& deck, const RunFacts& facts);
// "plan", which begins a dry run: its predictions, `plan` being those that the mode adds as a JSON object.
Json plan_record(const DeckFacts& deck, const Topology& topology, const std::vector<std::string>& warnings,
                 const std::string& plan);
// "timer": one operation on one level.
Json timer_record(const TimerRow& row);
// All rows, and a "rank_timer" for each rank where they have that; of this solver, where there are several.
std::string timer_records(const std::vector<TimerRow>& rows, const std::string& solver = "");

// The last records of a report: a "check" each, and "result".
std::string closing_records(const Findings& findings);

}  // namespace keel
