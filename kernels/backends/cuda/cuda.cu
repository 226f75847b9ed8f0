#define KEEL_GPU_CUDA
#include "kernels/backends/gpu/gpu.hpp"

namespace keel {

std::unique_ptr<Backend> make_cuda_backend(const BackendOptions& options) {
    return std::make_unique<GpuBackend>("cuda", "CUDA", options);
}
std::string why_no_cuda() {
    return why_no_device();
}

}  // namespace keel
