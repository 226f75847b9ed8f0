#pragma once

// What a simulated run takes from its machine: how fast it computes.

#include <optional>
#include <string>

#include "comm/costs/machine.hpp"
#include "kernels/timing/clock.hpp"

namespace keel {

struct Simulation {
    std::string platform;  // that messages cross
    std::string machine;   // whose file says what computing costs
    Compute compute;       // of a rank
};

// Nothing where time is real. Throws MissingParameter if the machine's file says nothing of computing.
std::optional<Simulation> simulation_on(const Machine& machine);

// What an operation is charged. Nothing without a simulation.
Price price_of(const std::optional<Simulation>& simulation);

// What a simulated run does in no time at all.
inline constexpr const char* not_charged =
    "set-up, checks, the small dense algebra of s-step and enlarged methods, packing while schemes are tried";

}  // namespace keel
