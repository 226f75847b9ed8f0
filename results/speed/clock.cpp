// What a reading of the clock takes, and by how much its rate is off from the system's. From the top of the checkout, by the processor's
// counter, and, with counter_of_none.cpp, by the system's clock:
//   g++ -std=c++20 -O2 -I. results/speed/clock.cpp kernels/timing/clock_of_host.cpp kernels/timing/counter_of_x86.cpp -o clock && ./clock

#include <chrono>
#include <cstdio>
#include <thread>

#include "kernels/timing/clock.hpp"

namespace {

double system_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Moment {
    double clock, system;
};
// Of many readings of both the pair that was taken in the least time: nothing came between.
Moment moment() {
    Moment best{};
    double least = 1;
    for (int n = 0; n < 1000; ++n) {
        const double before = system_seconds();
        const double clock = keel::now();
        const double after = system_seconds();
        if (after - before >= least) continue;
        least = after - before;
        best = {clock, (before + after) / 2};
    }
    return best;
}

}  // namespace

int main() {
    const Moment first = moment();
    std::this_thread::sleep_for(std::chrono::seconds(1));
    const Moment last = moment();
    const double rate = (last.clock - first.clock) / (last.system - first.system);

    constexpr int readings = 10000000;
    double sum = 0;
    const double begin = system_seconds();
    for (int n = 0; n < readings; ++n) sum += keel::now();
    const double reading = (system_seconds() - begin) / readings;
    std::printf("%.1f ns a reading, %+.1f parts in a million%s\n", 1e9 * reading, 1e6 * (rate - 1),
                sum > 0 ? "" : ", and it stands still");
}
