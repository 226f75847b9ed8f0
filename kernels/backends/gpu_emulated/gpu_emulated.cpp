#define KEEL_GPU_EMULATED
#include "kernels/backends/gpu/gpu.hpp"

namespace keel {

std::unique_ptr<Backend> make_gpu_emulated_backend(const BackendOptions& options) {
    return std::make_unique<GpuBackend>("gpu_emulated", "the GPU kernels, emulated on the host for tests",
                                        options);
}
std::string why_no_gpu_emulated() {
    return why_no_device();
}

}  // namespace keel
