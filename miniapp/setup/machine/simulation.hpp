#pragma once

// What a simulated run takes from its machine: how fast it computes; and from its deck: what it is charged for in place of
// what it computes.

#include <cstddef>
#include <optional>
#include <string>

#include "comm/costs/machine.hpp"
#include "kernels/timing/ledger.hpp"

namespace keel {

// Small boxes that are charged as if they were wide. The finest level that computes stands for the levels of a hierarchy from
// the wide boxes down to its own, each half as wide as the one before; the levels below are what they are.
struct Surrogate {
    int box = 0;       // width of the boxes that are charged, in cells
    int computed = 0;  // of those that compute
    std::size_t dimensions = 3;

    int levels_above() const;     // that are charged, and not there
    double more_cells() const;    // in a box that is charged, times those of one that computes
    double more_surface() const;  // the same of its faces
    // "boxes of 64^3 are charged, 8^3 computed"
    std::string text() const;
};

struct Simulation {
    std::string platform;  // that messages cross
    std::string machine;   // whose file says what computing costs
    Compute compute;       // of a rank
    std::optional<Surrogate> surrogate = {};
};

// Nothing where time is real. Throws MissingParameter if the machine's file says nothing of computing.
std::optional<Simulation> simulation_on(const Machine& machine);

// What an operation is charged. Nothing without a simulation. Of a surrogate's finest level the sum over the levels that it
// stands for: work on cells grows as they do, what fills, packs and copies ghosts as the boxes' faces.
Price price_of(const std::optional<Simulation>& simulation);

// What a simulated run does in no time at all.
inline constexpr const char* not_charged =
    "set-up other than algebraic multigrid's, checks, the small dense algebra of s-step and enlarged "
    "methods, packing while schemes are tried";

}  // namespace keel
