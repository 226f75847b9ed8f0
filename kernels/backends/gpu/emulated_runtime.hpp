#pragma once

// The functions of a GPU's runtime that this folder calls, on the emulated device.

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/backends/gpu/emulation.hpp"

enum emulatedError_t {
    emulatedSuccess,
    emulatedErrorMemoryAllocation,
    emulatedErrorInvalidValue,
    emulatedErrorGraphMemory
};
using emulatedStream_t = emulated::Stream*;
using emulatedEvent_t = emulated::Event*;
using emulatedGraph_t = std::vector<emulated::Node>*;
using emulatedGraphExec_t = std::vector<emulated::Node>*;
enum { emulatedStreamNonBlocking, emulatedEventDisableTiming, emulatedStreamCaptureModeThreadLocal };
enum emulatedMemcpyKind { emulatedMemcpyHostToDevice, emulatedMemcpyDeviceToHost };

inline const char* emulatedGetErrorString(emulatedError_t error) {
    constexpr const char* texts[] = {"no error", "out of memory", "invalid argument",
                                     "a graph names memory that is pageable or was freed"};
    return texts[error];
}

// One device; KEEL_EMULATED_DEVICES gives tests another number.
inline emulatedError_t emulatedGetDeviceCount(int* count) {
    const char* const given = std::getenv("KEEL_EMULATED_DEVICES");
    *count = given == nullptr ? 1 : std::atoi(given);
    return emulatedSuccess;
}
inline emulatedError_t emulatedSetDevice(int) {
    return emulatedSuccess;
}
struct emulatedDeviceProp_t {
    char name[256] = "emulation on the host";
    int l2CacheSize = 1 << 17;
};
inline emulatedError_t emulatedGetDeviceProperties(emulatedDeviceProp_t*, int) {
    return emulatedSuccess;
}
// Made up for tests: 100 GB/s.
enum emulatedDeviceAttr { emulatedDevAttrMemoryClockRate, emulatedDevAttrGlobalMemoryBusWidth };
inline emulatedError_t emulatedDeviceGetAttribute(int* value, emulatedDeviceAttr attribute, int) {
    *value = attribute == emulatedDevAttrMemoryClockRate ? 1000000 : 400;
    return emulatedSuccess;
}
inline emulatedError_t emulatedDeviceGetPCIBusId(char* text, int length, int number) {
    const std::string address = number == 0 ? "host" : "host:" + std::to_string(number);
    text[address.copy(text, static_cast<std::size_t>(length) - 1)] = '\0';
    return emulatedSuccess;
}
inline emulatedError_t emulatedMemGetInfo(std::size_t* available, std::size_t* total) {
    *available = emulated::device().free_bytes();
    *total = emulated::Device::total_bytes;
    return emulatedSuccess;
}

inline emulatedError_t emulatedMalloc(void** place, std::size_t bytes) {
    if (bytes > emulated::device().free_bytes()) return emulatedErrorMemoryAllocation;
    *place = emulated::allocate(bytes, false);
    return *place == nullptr ? emulatedErrorMemoryAllocation : emulatedSuccess;
}
inline emulatedError_t emulatedFree(void* place) {
    emulated::free(place);
    return emulatedSuccess;
}
inline emulatedError_t emulatedMallocHost(void** place, std::size_t bytes) {
    *place = emulated::allocate(bytes, true);
    return *place == nullptr ? emulatedErrorMemoryAllocation : emulatedSuccess;
}
inline constexpr auto* emulatedFreeHost = emulatedFree;

inline emulatedError_t emulatedStreamCreateWithFlags(emulatedStream_t* stream, unsigned) {
    *stream = new emulated::Stream;
    return emulatedSuccess;
}
inline emulatedError_t emulatedStreamSynchronize(emulatedStream_t stream) {
    if (stream->captured != nullptr) return emulatedErrorInvalidValue;
    ++emulated::device().waits;
    stream->run_until(nullptr);
    return emulatedSuccess;
}
inline emulatedError_t emulatedMemcpyAsync(void* to, const void* from, std::size_t bytes, emulatedMemcpyKind,
                                           emulatedStream_t stream) {
    const auto pageable = [](const void* place) { return emulated::device().allocation_at(place) == 0; };
    if (stream->captured != nullptr && (pageable(to) || pageable(from))) return emulatedErrorGraphMemory;
    stream->add(emulated::on_device([=] { std::memcpy(to, from, bytes); }),
                {emulated::bytes_of(to), emulated::bytes_of(from)});
    return emulatedSuccess;
}
inline emulatedError_t emulatedMemsetAsync(void* place, int value, std::size_t bytes,
                                           emulatedStream_t stream) {
    stream->add(emulated::on_device([=] { std::memset(place, value, bytes); }), {emulated::bytes_of(place)});
    return emulatedSuccess;
}

inline emulatedError_t emulatedEventCreateWithFlags(emulatedEvent_t* event, unsigned) {
    *event = new emulated::Event;
    return emulatedSuccess;
}
inline emulatedError_t emulatedEventRecord(emulatedEvent_t event, emulatedStream_t stream) {
    event->stream = stream;
    event->happened = std::make_shared<bool>(false);
    stream->add([happened = event->happened] { *happened = true; });
    return emulatedSuccess;
}
inline emulatedError_t emulatedStreamWaitEvent(emulatedStream_t stream, emulatedEvent_t event, unsigned) {
    stream->add([other = event->stream, happened = event->happened] {
        if (other != nullptr) other->run_until(happened.get());
    });
    return emulatedSuccess;
}

inline emulatedError_t emulatedStreamBeginCapture(emulatedStream_t stream, int) {
    if (stream->captured != nullptr) return emulatedErrorInvalidValue;
    stream->captured = new std::vector<emulated::Node>;
    return emulatedSuccess;
}
inline emulatedError_t emulatedStreamEndCapture(emulatedStream_t stream, emulatedGraph_t* graph) {
    *graph = std::exchange(stream->captured, nullptr);
    return emulatedSuccess;
}
inline emulatedError_t emulatedGraphInstantiateWithFlags(emulatedGraphExec_t* exec, emulatedGraph_t graph,
                                                         unsigned long long) {
    *exec = new std::vector<emulated::Node>(*graph);
    return emulatedSuccess;
}
inline emulatedError_t emulatedGraphLaunch(emulatedGraphExec_t exec, emulatedStream_t stream) {
    for (const emulated::Node& node : *exec)
        if (node.names_freed()) return emulatedErrorGraphMemory;
    for (const emulated::Node& node : *exec) stream->add(node.task);
    return emulatedSuccess;
}

template <class T>
emulatedError_t emulated_destroy(T* object) {
    delete object;
    return emulatedSuccess;
}
inline constexpr auto* emulatedStreamDestroy = emulated_destroy<emulated::Stream>;
inline constexpr auto* emulatedEventDestroy = emulated_destroy<emulated::Event>;
inline constexpr auto* emulatedGraphDestroy = emulated_destroy<std::vector<emulated::Node>>;
inline constexpr auto* emulatedGraphExecDestroy = emulated_destroy<std::vector<emulated::Node>>;
