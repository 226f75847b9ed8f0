#include "kernels/backends/registry.hpp"

#include <map>
#include <stdexcept>

namespace keel {

// Each backend's maker stands in its file, and its devices.
std::unique_ptr<Backend> make_openmp_backend(const BackendOptions& options);
std::unique_ptr<Backend> make_kokkos_backend(const BackendOptions& options);
std::unique_ptr<Backend> make_cuda_backend(const BackendOptions& options);
std::unique_ptr<Backend> make_hip_backend(const BackendOptions& options);
std::unique_ptr<Backend> make_gpu_emulated_backend(const BackendOptions& options);
Devices cuda_devices(), hip_devices(), gpu_emulated_devices();

namespace {

// How a backend that is compiled in is made.
struct Maker {
    std::unique_ptr<Backend> (*make)(const BackendOptions&);
    Devices (*devices)() = [] { return Devices{}; };
};

std::map<std::string, Maker> makers() {
    std::map<std::string, Maker> makers{{"openmp", {make_openmp_backend}}};
#if defined(KEEL_KOKKOS)
    makers["kokkos"] = {make_kokkos_backend};
#endif
#if defined(KEEL_CUDA)
    makers["cuda"] = {make_cuda_backend, cuda_devices};
#endif
#if defined(KEEL_HIP)
    makers["hip"] = {make_hip_backend, hip_devices};
#endif
#if defined(KEEL_GPU_EMULATED)
    makers["gpu_emulated"] = {make_gpu_emulated_backend, gpu_emulated_devices};
#endif
    return makers;
}

}  // namespace

std::vector<BackendInfo> all_backends() {
    constexpr BackendFeatures host{};
    constexpr BackendFeatures either{.single_precision = true, .single_pass = true};
    constexpr BackendFeatures gpu{
        .device_memory = true, .lazy = true, .graphs = true, .single_precision = true};
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

Devices devices_of(const std::string& backend) {
    const auto compiled_in = makers();
    const auto maker = compiled_in.find(backend);
    return maker == compiled_in.end() ? Devices{} : maker->second.devices();
}

std::string why_unusable(const std::string& name) {
    const BackendInfo info = backend_info(name);
    return info.compiled_in ? devices_of(name).why_none
                            : "not in this executable; compile it with -D" + info.option + "=ON";
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
