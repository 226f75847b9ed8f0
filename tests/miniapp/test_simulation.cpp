// The price of simulated operations, without a simulation.

#include <catch2/catch.hpp>

#include "miniapp/setup/machine/simulation.hpp"

using namespace keel;

TEST_CASE("work is charged the time that the machine's file gives it, at least a launch") {
    const Compute compute{1e9, 1e-6};
    const Price price = price_of(Simulation{"platform", "machine", compute});
    CHECK(price({0, 5000}) == compute.time(1, {0, 5000}));
    CHECK(price({0, 1}) == 1e-6);
    CHECK_FALSE(price_of({}));
}
