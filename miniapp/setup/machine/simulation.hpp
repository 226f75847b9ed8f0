#pragma once

// The machine that a simulated run takes its seconds from.

#include <optional>
#include <string>

#include "comm/costs/machine.hpp"
#include "kernels/timing/ledger.hpp"

namespace keel {

struct Simulation {
    std::string platform;  // the network that messages cross
    std::string machine;   // whose file says what computing costs
    Compute compute;       // of a rank
};

// Nothing where time is real. Throws MissingParameter if the machine's file says nothing of computing.
std::optional<Simulation> simulation_on(const Machine& machine);

// The price of an operation's work; empty without a simulation.
Price price_of(const std::optional<Simulation>& simulation);

// The work that a simulated run does in no time at all.
inline constexpr const char* not_modelled =
    "set-up other than algebraic multigrid's, checks, the small dense algebra of s-step and enlarged "
    "methods, packing while schemes are tried";

}  // namespace keel
