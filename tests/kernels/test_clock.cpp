#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "kernels/timing/clock.hpp"

using namespace keel;

namespace {

double system_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

// However long the thread is kept waiting between two readings, the clock's seconds lie between those of the
// system within and around them.
TEST_CASE("the clock's seconds are the system's") {
    now();
    const double around = system_seconds();
    const double begin = now();
    const double within = system_seconds();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    const double least = system_seconds() - within;
    const double seconds = now() - begin;
    const double most = system_seconds() - around;
    constexpr double off = 1e-3;
    CHECK(seconds > (1 - off) * least);
    CHECK(seconds < (1 + off) * most);
    CHECK(begin > around - off);
    CHECK(begin < within + off);
}

TEST_CASE("the clock never runs backwards") {
    double last = now();
    bool backwards = false;
    for (int n = 0; n < 1000000; ++n) {
        const double next = now();
        backwards = backwards || next < last;
        last = next;
    }
    CHECK_FALSE(backwards);
}
