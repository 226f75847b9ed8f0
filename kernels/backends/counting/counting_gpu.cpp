#define KEEL_GPU_COUNTED
#include "kernels/backends/counting/counting.hpp"
#include "kernels/backends/gpu/gpu.hpp"

namespace keel {

std::unique_ptr<Backend> make_counting_gpu_backend(GpuSync sync) {
    return std::make_unique<GpuBackend>("counting", "nothing is computed", BackendOptions{0, sync});
}

}  // namespace keel
