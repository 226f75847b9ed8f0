#define KEEL_GPU_HIP
#include "kernels/backends/gpu/gpu.hpp"

namespace keel {

std::unique_ptr<Backend> make_hip_backend(const BackendOptions& options) {
    return std::make_unique<GpuBackend>("hip", "HIP", options);
}
Devices hip_devices() {
    return devices_here();
}

}  // namespace keel
