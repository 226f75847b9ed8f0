#pragma once

// Names of operations for tools that watch the program: Caliper, Nsight, rocprof.

#include <memory>

namespace keel {

class Regions {
  public:
    virtual ~Regions() = default;
    // Regions are nested: the one that began last ends first. `name` outlives the region.
    virtual void begin(const char* name) = 0;
    virtual void end(const char* name) = 0;
};

// The regions of the tool that CMake found, Caliper under KEEL_CALIPER; null without one.
std::unique_ptr<Regions> make_regions();

}  // namespace keel
