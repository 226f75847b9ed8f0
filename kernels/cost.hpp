#pragma once

// The least work of a kernel body per cell: every grid it touches is moved once, writes without the read that
// a cache may add for them. The report compares measured times with these counts.

#include <cstddef>

namespace keel {

struct Cost {
    double flops = 0;
    double reads = 0;   // values per cell
    double writes = 0;  // values per cell
};

// The same for a whole operation. Operations return it; algorithms ignore it, the timing decorator adds it
// up.
struct Work {
    double flops = 0;
    double bytes = 0;

    Work& operator+=(const Work& other) {
        flops += other.flops;
        bytes += other.bytes;
        return *this;
    }
};

// The work on `cells` cells, whose values have `bytes_of_value` bytes.
constexpr Work work_of(const Cost& cost, std::size_t cells, std::size_t bytes_of_value) {
    const auto n = static_cast<double>(cells);
    return {cost.flops * n, (cost.reads + cost.writes) * static_cast<double>(bytes_of_value) * n};
}
constexpr Work operator*(const Cost& cost, std::size_t cells) {
    return work_of(cost, cells, sizeof(double));
}

// The cost of a solve so far.
struct Counts {
    long applications = 0;  // operator times vector
    long exchanges = 0;     // messages to every neighbour, whatever the number of vectors in them
    long reductions = 0;    // all-reduces
    long words = 0;         // doubles in them

    friend constexpr Counts operator-(const Counts& a, const Counts& b) {
        return {a.applications - b.applications, a.exchanges - b.exchanges, a.reductions - b.reductions,
                a.words - b.words};
    }
};

}  // namespace keel
