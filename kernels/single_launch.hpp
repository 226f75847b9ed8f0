#pragma once

// One launch of one block of threads of a device, on a level whose boxes one rank has alone. Another room
// passes a function that makes the kernel; a backend lends it memory, starts it, and copies its result to the
// host.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "kernels/cost.hpp"

namespace keel {

// A block of threads takes 15 us for an iteration of BiCGStab on 4,096 cells of an H100 (measured with a
// prototype), and the host 185 us to drive one on any few: larger levels are the host's.
inline constexpr std::size_t most_launched_cells = 16384;

// A cell of a block of boxes, or a ghost of it.
struct CellPlace {
    std::int16_t block, i, j, k;
};
struct GhostCopy {
    CellPlace to, from;
};

// A level as a block of threads walks over it. An exchange is copies of ghosts.
struct LevelOfBlock {
    const CellPlace* cell;
    const GhostCopy* ghost;
    std::int64_t cells;
    std::int64_t ghosts;
};

// Vectors one behind the other, each from cell (0,0,0) of block 0.
struct BlockVectors {
    double* first;
    std::int64_t distance;  // in values

    constexpr double* operator[](std::size_t n) const {
        return first + static_cast<std::int64_t>(n) * distance;
    }
    constexpr BlockVectors from(std::size_t n) const { return {(*this)[n], distance}; }
};

// The head of a result. The kernel's values lie behind it.
struct LaunchResult {
    Cost cost;  // per cell
    std::int64_t values;
};

struct LaunchNeeds {
    std::size_t vectors = 0;
    std::size_t values = 0;  // most values of a result
};

// The memory of a device that a kernel is lent.
struct BlockMemory {
    std::string_view runtime = {};  // "cuda", "hip", "emulated" or "counted"
    LevelOfBlock level = {};
    BlockVectors vectors = {};
    LaunchResult* result = nullptr;
    std::int64_t threads = 0;
};

// A kernel with its arguments: `start` launches it on a stream of the runtime; kernels with the same bytes do
// the same.
struct BlockKernel {
    std::function<void(void* stream)> start;
    std::string bytes;
    std::function<void()> by_host = {};  // the same by the host, where the device computes nothing
};
using MakeBlockKernel = std::function<BlockKernel(const BlockMemory&)>;

}  // namespace keel
