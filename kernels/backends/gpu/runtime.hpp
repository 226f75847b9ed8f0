#pragma once

// The one place where CUDA, HIP, the emulation on the host and a device that only counts differ. GPU(Malloc)
// is cudaMalloc, hipMalloc, emulatedMalloc or countedMalloc; all else in this folder is the same source.

#include <stdexcept>
#include <string>
#include <string_view>

#if defined(KEEL_GPU_CUDA)
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>
#define GPU(name) cuda##name
#define KEEL_GPU_PREFIX "cuda"
#elif defined(KEEL_GPU_HIP)
#include <hip/hip_runtime.h>
#if defined(KEEL_ROCTX)
#include <roctracer/roctx.h>
#endif
#define GPU(name) hip##name
#define KEEL_GPU_PREFIX "hip"
#elif defined(KEEL_GPU_EMULATED)
#include "kernels/backends/gpu/emulated_runtime.hpp"
#define GPU(name) emulated##name
#define KEEL_GPU_PREFIX "emulated"
#elif defined(KEEL_GPU_COUNTED)
#include "kernels/backends/gpu/counted_runtime.hpp"
#define GPU(name) counted##name
#define KEEL_GPU_PREFIX "counted"
#endif

// Code of the device in functions that are compiled for the host as well, where nothing calls them.
#if defined(KEEL_GPU_EMULATED) || defined(KEEL_GPU_COUNTED) || defined(__CUDA_ARCH__) || \
    defined(__HIP_DEVICE_COMPILE__)
#define KEEL_ON_DEVICE(code) code
#else
#define KEEL_ON_DEVICE(code)
#endif
#if defined(KEEL_GPU_EMULATED) || defined(KEEL_GPU_COUNTED)
#define KEEL_NOINLINE
#else
#define KEEL_NOINLINE __noinline__
#endif

namespace keel {
namespace {

constexpr std::string_view runtime_name = KEEL_GPU_PREFIX;
constexpr int threads_per_block = runtime_name == "emulated" ? 32 : 256;  // fibres take time
constexpr bool device_computes = runtime_name != "counted";

using Stream = GPU(Stream_t);
using Event = GPU(Event_t);
using Graph = GPU(GraphExec_t);
#if defined(KEEL_GPU_CUDA)
using DeviceProperties = cudaDeviceProp;
#else
using DeviceProperties = GPU(DeviceProp_t);
#endif

#if defined(KEEL_GPU_HIP)
constexpr auto memory_clock = hipDeviceAttributeMemoryClockRate;
constexpr auto memory_bus_width = hipDeviceAttributeMemoryBusWidth;
#else
constexpr auto memory_clock = GPU(DevAttrMemoryClockRate);
constexpr auto memory_bus_width = GPU(DevAttrGlobalMemoryBusWidth);
#endif

inline std::string error_text(GPU(Error_t) error, const char* call) {
    return std::string(KEEL_GPU_PREFIX) + call + ": " + GPU(GetErrorString)(error);
}

// Throws an error that names the call and where it stands, unless the call succeeded.
inline void checked(GPU(Error_t) error, const char* call, const char* file = __builtin_FILE(),
                    int line = __builtin_LINE()) {
    if (error == GPU(Success)) return;
    throw std::runtime_error(error_text(error, call) + " (" + file + ":" + std::to_string(line) + ")");
}

// Memory of the host that a device copies to and from at full speed, and while the host goes on.
inline void* malloc_pinned(std::size_t bytes) {
    void* place = nullptr;
#if defined(KEEL_GPU_HIP)
    checked(hipHostMalloc(&place, bytes), "HostMalloc");
#else
    checked(GPU(MallocHost)(&place, bytes), "MallocHost");
#endif
    return place;
}
inline void free_pinned(void* place) {
#if defined(KEEL_GPU_HIP)
    static_cast<void>(hipHostFree(place));
#else
    static_cast<void>(GPU(FreeHost)(place));
#endif
}

// Ranges that the vendor's tools show.
#if defined(KEEL_GPU_CUDA)
constexpr bool has_ranges = true;
inline void push_range(const char* name) {
    nvtxRangePushA(name);
}
inline void pop_range() {
    nvtxRangePop();
}
#elif defined(KEEL_ROCTX)
constexpr bool has_ranges = true;
inline void push_range(const char* name) {
    roctxRangePushA(name);
}
inline void pop_range() {
    roctxRangePop();
}
#else
constexpr bool has_ranges = false;
inline void push_range(const char*) {}
inline void pop_range() {}
#endif

// The most threads of a kernel's blocks.
template <class Kernel>
constexpr int most_threads_of() {
    if constexpr (requires { Kernel::most_threads; })
        return Kernel::most_threads;
    else
        return threads_per_block;
}

// A kernel is a functor: what a thread does.
template <class Kernel>
__global__ void __launch_bounds__(most_threads_of<Kernel>()) run_kernel(const Kernel kernel) {
    kernel();
}

#if defined(KEEL_GPU_EMULATED)
template <class Kernel>
void launch(const Kernel& kernel, dim3 blocks, dim3 threads, Stream stream) {
    emulated::launch(kernel, Kernel::barriers, emulated::bytes_of(kernel), blocks, threads, stream);
}
#elif defined(KEEL_GPU_COUNTED)
template <class Kernel>
void launch(const Kernel&, dim3, dim3, Stream) {}
#else
template <class Kernel>
void launch(const Kernel& kernel, dim3 blocks, dim3 threads, Stream stream) {
    Kernel copy = kernel;
    void* arguments[] = {&copy};
    checked(GPU(LaunchKernel)(reinterpret_cast<const void*>(&run_kernel<Kernel>), blocks, threads, arguments,
                              0, stream),
            "LaunchKernel");
}
#endif

}  // namespace
}  // namespace keel
