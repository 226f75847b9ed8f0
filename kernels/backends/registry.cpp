#include "kernels/backends/registry.hpp"

#include <map>
#include <stdexcept>

#include "kernels/backends/openmp/openmp.hpp"
#if defined(KEEL_KOKKOS)
#include "kernels/backends/kokkos/kokkos.hpp"
#endif
#if defined(KEEL_CUDA)
#include "kernels/backends/cuda/cuda.hpp"
#endif
#if defined(KEEL_HIP)
#include "kernels/backends/hip/hip.hpp"
#endif
#if defined(KEEL_GPU_EMULATED)
#include "kernels/backends/gpu_emulated/gpu_emulated.hpp"
#endif

namespace keel {
namespace {

// How a backend that is compiled in is made.
struct Maker {
    std::string (*why_unusable)();
    std::unique_ptr<Backend> (*make)(const BackendOptions&);
};

std::map<std::string, Maker> makers() {
    std::map<std::string, Maker> makers;
    makers["openmp"] = {[] { return std::string(); },
                        [](const BackendOptions&) { return make_openmp_backend(); }};
#if defined(KEEL_KOKKOS)
    makers["kokkos"] = {[] { return std::string(); },
                        [](const BackendOptions&) { return make_kokkos_backend(); }};
#endif
#if defined(KEEL_CUDA)
    makers["cuda"] = {why_no_cuda, make_cuda_backend};
#endif
#if defined(KEEL_HIP)
    makers["hip"] = {why_no_hip, make_hip_backend};
#endif
#if defined(KEEL_GPU_EMULATED)
    makers["gpu_emulated"] = {why_no_gpu_emulated, make_gpu_emulated_backend};
#endif
    return makers;
}

}  // namespace

std::vector<BackendInfo> all_backends() {
    constexpr BackendFeatures host{};
    constexpr BackendFeatures either{.single_precision = true, .single_pass = true};
    constexpr BackendFeatures gpu{.device_memory = true, .lazy = true, .graphs = true};
    std::vector<BackendInfo> all{
        {"openmp", "processor cores", "", either},
        {"kokkos", "what Kokkos was built for", "KEEL_KOKKOS", host},
        {"cuda", "NVIDIA GPUs", "KEEL_CUDA", gpu},
        {"hip", "AMD GPUs", "KEEL_HIP", gpu},
        {"gpu_emulated", "processor cores, by the GPU source", "KEEL_GPU_EMULATED", gpu},
    };
    const auto compiled_in = makers();
    for (BackendInfo& info : all) info.compiled_in = compiled_in.contains(info.name);
    return all;
}

BackendInfo backend_info(const std::string& name) {
    for (const BackendInfo& info : all_backends())
        if (info.name == name) return info;
    throw std::invalid_argument("unknown backend " + name);
}

std::string why_unusable(const std::string& name) {
    const BackendInfo info = backend_info(name);
    const auto compiled_in = makers();
    const auto maker = compiled_in.find(name);
    return maker == compiled_in.end() ? "not in this executable; compile it with -D" + info.option + "=ON"
                                      : maker->second.why_unusable();
}

std::vector<std::string> usable_backends() {
    std::vector<std::string> names;
    for (const BackendInfo& info : all_backends())
        if (why_unusable(info.name).empty()) names.push_back(info.name);
    return names;
}

std::unique_ptr<Backend> make_backend(const std::string& name, const BackendOptions& options) {
    if (const std::string reason = why_unusable(name); !reason.empty())
        throw std::invalid_argument("backend " + name + ": " + reason);
    return makers().at(name).make(options);
}

}  // namespace keel
