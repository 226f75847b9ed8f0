#pragma once

// What a kernel body must do per cell at the least: every grid it touches moved once, writes without the
// read that a cache may add for them. The report compares measured times with these counts.

#include <cstddef>

namespace keel {

struct Cost {
    double flops = 0;
    double reads = 0;   // doubles per cell
    double writes = 0;  // doubles per cell
};

// The same for a whole operation. Operations return it; algorithms ignore it, the timing decorator adds it up.
struct Work {
    double flops = 0;
    double bytes = 0;

    Work& operator+=(const Work& other) {
        flops += other.flops;
        bytes += other.bytes;
        return *this;
    }
};

constexpr Work operator*(const Cost& cost, std::size_t cells) {
    const auto n = static_cast<double>(cells);
    return {cost.flops * n, (cost.reads + cost.writes) * sizeof(double) * n};
}

}  // namespace keel
