#pragma once

// The functions of a GPU's runtime that this folder calls, on a device that computes nothing: memory is
// reserved and zero, kernels are not run. What they are asked for is counted in device.hpp.

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <map>

#include "kernels/backends/gpu/emulation.hpp"  // the words of kernels

enum countedError_t { countedSuccess, countedErrorMemoryAllocation };
using countedStream_t = int*;
using countedEvent_t = int*;
using countedGraph_t = int*;
using countedGraphExec_t = int*;
enum { countedStreamNonBlocking, countedEventDisableTiming, countedStreamCaptureModeThreadLocal };
enum countedMemcpyKind { countedMemcpyHostToDevice, countedMemcpyDeviceToHost };
struct countedDeviceProp_t {
    char name[256] = "counted";
    int l2CacheSize = 0;
};

inline const char* countedGetErrorString(countedError_t error) {
    return error == countedSuccess ? "no error" : "out of addresses";
}
inline countedError_t countedGetDeviceCount(int* count) {
    *count = 1;
    return countedSuccess;
}
enum countedDeviceAttr { countedDevAttrMemoryClockRate, countedDevAttrGlobalMemoryBusWidth };
inline countedError_t countedDeviceGetAttribute(int* value, countedDeviceAttr, int) {
    *value = 0;
    return countedSuccess;
}
inline countedError_t countedDeviceGetPCIBusId(char* text, int, int) {
    text[0] = '\0';
    return countedSuccess;
}
inline countedError_t countedMemGetInfo(std::size_t* available, std::size_t* total) {
    *available = *total = 0;
    return countedSuccess;
}

// Addresses whose pages are there once they are touched, which lists alone are.
inline std::map<void*, std::size_t>& counted_memory() {
    static std::map<void*, std::size_t> bytes;
    return bytes;
}
inline countedError_t countedMalloc(void** place, std::size_t bytes) {
    *place = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (*place == MAP_FAILED) return countedErrorMemoryAllocation;
    counted_memory()[*place] = bytes;
    return countedSuccess;
}
inline countedError_t countedFree(void* place) {
    if (const auto found = counted_memory().extract(place)) munmap(place, found.mapped());
    return countedSuccess;
}
inline constexpr auto* countedMallocHost = countedMalloc;
inline constexpr auto* countedFreeHost = countedFree;
inline countedError_t countedMemcpyAsync(void* to, const void* from, std::size_t bytes,
                                         countedMemcpyKind kind, countedStream_t) {
    // Lists go to the device and come back; messages and sums stay zero.
    const auto is_list = [](const void* place) {
        return !counted_memory().contains(const_cast<void*>(place));
    };
    if (is_list(kind == countedMemcpyHostToDevice ? from : to)) std::memcpy(to, from, bytes);
    return countedSuccess;
}

// Streams and graphs differ in their addresses.
inline countedError_t countedStreamCreateWithFlags(countedStream_t* stream, unsigned) {
    *stream = new int;
    return countedSuccess;
}
inline countedError_t countedGraphInstantiateWithFlags(countedGraphExec_t* graph, countedGraph_t, unsigned) {
    return countedStreamCreateWithFlags(graph, 0);
}
inline countedError_t countedStreamDestroy(countedStream_t stream) {
    delete stream;
    return countedSuccess;
}
inline constexpr auto* countedGraphExecDestroy = countedStreamDestroy;

#define KEEL_COUNTED(name, ...)                        \
    inline countedError_t counted##name(__VA_ARGS__) { \
        return countedSuccess;                         \
    }
KEEL_COUNTED(GetDeviceProperties, countedDeviceProp_t*, int)
KEEL_COUNTED(SetDevice, int)
KEEL_COUNTED(StreamSynchronize, countedStream_t)
KEEL_COUNTED(MemsetAsync, void*, int, std::size_t, countedStream_t)
KEEL_COUNTED(EventCreateWithFlags, countedEvent_t*, unsigned)
KEEL_COUNTED(EventRecord, countedEvent_t, countedStream_t)
KEEL_COUNTED(StreamWaitEvent, countedStream_t, countedEvent_t, unsigned)
KEEL_COUNTED(EventDestroy, countedEvent_t)
KEEL_COUNTED(StreamBeginCapture, countedStream_t, int)
KEEL_COUNTED(GraphLaunch, countedGraphExec_t, countedStream_t)
KEEL_COUNTED(StreamEndCapture, countedStream_t, countedGraph_t*)
KEEL_COUNTED(GraphDestroy, countedGraph_t)
#undef KEEL_COUNTED
