#define KEEL_GPU_EMULATED
#include "kernels/backends/gpu/gpu.hpp"

namespace keel {

std::unique_ptr<Backend> make_gpu_emulated_backend(const BackendOptions& options) {
    return std::make_unique<GpuBackend>("gpu_emulated", "the GPU kernels, emulated on the host for tests",
                                        options);
}
Devices gpu_emulated_devices() {
    return devices_here();
}

}  // namespace keel
