#pragma once

// The backends, by name: what each can do, which of them are in this executable, and which of those can run
// here.

#include <memory>
#include <string>
#include <vector>

#include "kernels/backends/strict_math.hpp"
#include "kernels/layout/storage.hpp"
#include "kernels/names.hpp"
#include "kernels/operations.hpp"
#include "kernels/timing/device_counts.hpp"
#include "kernels/timing/regions.hpp"

namespace keel {

// The points where the host waits for a device: after every operation, so that each has a time of its own;
// only where it needs results; or so while recurring sequences of operations are replayed as graphs.
enum class GpuSync { per_operation, lazy, graphs };
constexpr auto names_of(GpuSync) {
    return std::array{"per_operation", "lazy", "graphs"};
}

struct BackendOptions {
    int device = 0;  // number of a device among those that this process sees, modulo their count
    GpuSync sync = GpuSync::per_operation;
};

class Backend {
  public:
    virtual ~Backend() = default;
    virtual std::string name() const = 0;
    virtual std::string description() const = 0;  // for the report's header, e.g. the number of threads
    virtual std::string device() const {
        return "";
    }  // number, name and bus address; "" where the host computes
    virtual std::size_t free_device_bytes() const { return 0; }
    virtual std::size_t device_cache_bytes() const { return 0; }  // last-level cache
    // Bandwidth of the device's memory as its driver states it; 0 if unknown.
    virtual double device_bytes_per_second() const { return 0; }
    virtual DeviceLog* device_log() const { return nullptr; }  // null where the host computes
    // Ranges of the device's own tools; null where it has none.
    virtual Regions* regions() const { return nullptr; }
    virtual int threads() const = 0;
    // Operations on this rank's boxes of a level whose fields have `ghosts` ghost layers, of each box or of
    // blocks.
    virtual std::unique_ptr<Operations> make_operations(const Layout& layout, int ghosts,
                                                        Storage storage) const = 0;
    std::unique_ptr<Operations> make_operations(const Layout& layout, int ghosts) const {
        return make_operations(layout, ghosts, Storage::boxes);
    }
    // The same in single precision, for multigrid cycles only, with faces of this precision; null without
    // BackendFeatures::single_precision.
    virtual std::unique_ptr<Operations> make_cycle_operations(const Layout&, int, Storage,
                                                              Precision /*faces*/) const {
        return nullptr;
    }
};

// Features that a deck can ask for and only some backends have.
struct BackendFeatures {
    bool device_memory = false;     // fields that the host cannot read: comm.device has a meaning
    bool lazy = false;              // run.gpu_sync = lazy
    bool graphs = false;            // run.gpu_sync = graphs
    bool single_precision = false;  // multigrid.precision = mixed
    bool single_pass = false;       // several half sweeps pass over memory once
};

struct BackendInfo {
    std::string name;
    std::string runs_on;
    std::string option;  // CMake option that compiles it in
    BackendFeatures features;
    bool compiled_in = false;
};

// All backends that Keel has, compiled in or not; the first is the default.
std::vector<BackendInfo> all_backends();
BackendInfo backend_info(
    const std::string& name);  // throws std::invalid_argument for a name that is not among them

// The devices that this process sees, in the order of their numbers.
struct Devices {
    std::vector<std::string> addresses;  // on the PCI bus
    std::string why_none;                // why a backend that computes on devices has none
};
Devices devices_of(const std::string& backend);  // none where the host computes

// Backends that are compiled in and can run here.
std::vector<std::string> usable_backends();
// Why a backend cannot run here; empty if it can.
std::string why_unusable(const std::string& name);
// Throws std::invalid_argument unless the backend is usable.
std::unique_ptr<Backend> make_backend(const std::string& name, const BackendOptions& options = {});

}  // namespace keel
