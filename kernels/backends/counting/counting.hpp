#pragma once

// A backend that counts: the operations of the OpenMP backend without their loops, on fields without memory.
// What runs on it declares the same work and takes the same memory as on OpenMP, and takes neither.

#include <cstddef>
#include <memory>

#include "kernels/backends/registry.hpp"

namespace keel {

// The bytes that operations of a counting backend were asked for.
struct CountedMemory {
    std::size_t cells = 0;    // the fields' cells alone: without ghosts and padding
    std::size_t fields = 0;   // whole fields
    std::size_t buffers = 0;  // messages, and sums in twice the precision
    std::size_t lists = 0;    // copies, and ghosts beyond boundaries

    std::size_t bytes() const { return fields + buffers + lists; }
};

// Fields and buffers have addresses at which there is no memory: to read one is a fault, and nothing is
// reserved. Sums and norms of a rank are zero, so a solve needs the totals of another one
// (comm/reductions/tape.hpp). Blocks of boxes are dealt out to `threads` threads. `memory` outlives the
// backend and its operations.
std::unique_ptr<Backend> make_counting_backend(CountedMemory& memory, int threads = 1);

// The same of the GPU backends' operations: launches, waits and copies of the host's are those of a run.
std::unique_ptr<Backend> make_counting_gpu_backend(GpuSync sync);

}  // namespace keel
