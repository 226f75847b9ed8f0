#define KEEL_GPU_CUDA
#include "kernels/backends/gpu/gpu.hpp"

namespace keel {

std::unique_ptr<Backend> make_cuda_backend(const BackendOptions& options) {
    return std::make_unique<GpuBackend>("cuda", "CUDA", options);
}
Devices cuda_devices() {
    return devices_here();
}

}  // namespace keel
