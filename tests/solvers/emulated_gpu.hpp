#pragma once

// Tests of what the GPUs alone do, with the emulated one.

#include <cstdlib>
#include <string>

#include "comm/ranks/communicator.hpp"
#include "kernels/backends/registry.hpp"

#define KEEL_GPU_EMULATED
#include "kernels/backends/gpu/emulation.hpp"

namespace keel::test {

// Tests with the emulated GPU while it lives.
class OnEmulatedGpu {
  public:
    explicit OnEmulatedGpu(const std::string& sync) {
        if (const char* const given = std::getenv("KEEL_TEST_BACKEND")) before_ = given;
        setenv("KEEL_TEST_BACKEND", ("gpu_emulated/" + sync).c_str(), 1);
    }
    OnEmulatedGpu(const OnEmulatedGpu&) = delete;
    OnEmulatedGpu& operator=(const OnEmulatedGpu&) = delete;
    ~OnEmulatedGpu() { setenv("KEEL_TEST_BACKEND", before_.c_str(), 1); }
    static bool usable() { return why_unusable("gpu_emulated").empty(); }
    // For tests of one rank: where there are several, all would compute the same.
    static bool usable_alone() { return usable() && Communicator::world().rank() == 0; }

  private:
    std::string before_ = "openmp";
};

}  // namespace keel::test
