#include <x86intrin.h>

#include <fstream>
#include <string>

#include "kernels/timing/counter.hpp"

namespace keel {

// Linux watches it, and takes another source for its own clock where it finds that the counter is not to be
// trusted.
Counter trusted_counter() {
    std::string source;
    std::ifstream("/sys/devices/system/clocksource/clocksource0/current_clocksource") >> source;
    if (source != "tsc") return nullptr;
    return [] { return std::uint64_t{__rdtsc()}; };
}

}  // namespace keel
