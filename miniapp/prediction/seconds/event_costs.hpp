#pragma once

// The costs of a solve's events as numbers that follow a machine's: another machine's seconds without a run.

#include <span>
#include <string>

#include "miniapp/prediction/seconds/costs.hpp"

namespace keel {

// JSON, the field `costs` of a predicted solve; docs/reference/records.schema.json has its fields. Work has
// calls, bytes and flops, all that seconds of work depend on. The seconds of messages are a maximum of linear
// functions of latency and of seconds a byte between nodes: their tangents at four machines. Events while an
// all-reduce is in flight keep their order, in which it is hidden; all others are counted. Throws
// MissingParameter.
std::string event_costs(std::span<const Slice> slices, VariedCosts& costs);

}  // namespace keel
