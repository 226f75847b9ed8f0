#pragma once

#include <algorithm>

#include "kernels/backends/registry.hpp"
#include "kernels/timing/clock.hpp"
#include "miniapp/setup/machine/machine_facts.hpp"

namespace keel {

// Bytes of memory taken since it was made, at their peak on the host. Unknown, 0, of simulated ranks, which
// share a process.
class MemoryGrowth {
  public:
    explicit MemoryGrowth(const Backend& backend)
        : backend_(backend), free_on_device_(static_cast<double>(backend.free_device_bytes())) {
        reset_peak();
        resident_ = resident_bytes();
    }
    double on_host() const {
        if (simulated()) return 0;
        const std::size_t peak = peak_resident_bytes();
        return static_cast<double>(peak - std::min(peak, resident_));
    }
    // All ranks' together: no more is known of a device.
    double on_device() const { return free_on_device_ - static_cast<double>(backend_.free_device_bytes()); }

  private:
    const Backend& backend_;
    double free_on_device_;
    std::size_t resident_ = 0;
};

}  // namespace keel
