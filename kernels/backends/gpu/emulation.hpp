#pragma once

// Enough of a GPU's runtime to run the device code of this folder on the host, so that every commit tests it.
//   * A kernel with barriers runs each thread of a block on a fibre of its own; a missing barrier gives wrong numbers.
//     A kernel that says it has none (Kernel::barriers = false) is a loop over its threads, the last thread first.
//   * A stream does nothing until something waits for it: a missing wait gives wrong numbers too.
//   * With the address sanitizer, device memory is poisoned while the host runs.
// One process has one such device.

#include <setjmp.h>
#include <ucontext.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

#define __global__
#define __device__
#define __host__
#define __shared__ static
#define __launch_bounds__(...)

struct dim3 {
    unsigned x = 1, y = 1, z = 1;
    constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};

namespace emulated {

// --- The threads of a block

struct Thread {
    dim3 thread, block, threads, blocks;
};

struct Fibres {
    static constexpr std::size_t stack_bytes = 64 * 1024;

    struct Fibre {
        ucontext_t start;
        jmp_buf point;  // where it waits
        std::unique_ptr<char[]> stack = std::make_unique<char[]>(stack_bytes);
        bool started = false;
        bool done = false;
    };
    std::vector<Fibre> fibres;
    jmp_buf scheduler;
    std::size_t running = 0;
    const std::function<void()>* body = nullptr;

    Fibre& current() { return fibres[running]; }
};

struct Device {
    Thread current;
    Fibres block;
    std::map<void*, std::size_t> memory;

    static constexpr std::size_t total_bytes = std::size_t{256} << 20;
    std::size_t free_bytes() const {
        std::size_t used = 0;
        for (const auto& allocation : memory) used += allocation.second;
        return total_bytes - used;
    }
};

inline Device& device() {
    static Device one;
    return one;
}

// A fibre is entered by its context and left and entered again by jumps, for changing contexts asks the kernel.
inline void start_fibre() {
    Fibres& block = device().block;
    (*block.body)();
    block.current().done = true;
    _longjmp(block.scheduler, 1);
}

inline void barrier() {
    Fibres& block = device().block;
    if (_setjmp(block.current().point) == 0) _longjmp(block.scheduler, 1);
}

// Runs the current fibre until its next barrier.
inline void resume_fibre() {
    Fibres& block = device().block;
    Fibres::Fibre& fibre = block.current();
    if (_setjmp(block.scheduler) != 0) return;
    if (fibre.started) _longjmp(fibre.point, 1);
    fibre.started = true;
    setcontext(&fibre.start);
}

inline dim3 thread_at(std::size_t t, dim3 threads) {
    const auto n = static_cast<unsigned>(t);
    return {n % threads.x, n / threads.x % threads.y, n / (threads.x * threads.y)};
}

// Runs every thread up to its next barrier, in turn, until all are done.
inline void run_fibres(std::size_t count, dim3 threads, const std::function<void()>& body) {
    Fibres& block = device().block;
    if (block.fibres.size() < count) block.fibres.resize(count);
    block.body = &body;
    for (std::size_t t = 0; t < count; ++t) {
        Fibres::Fibre& fibre = block.fibres[t];
        fibre.started = false;
        fibre.done = false;
        getcontext(&fibre.start);
        fibre.start.uc_stack.ss_sp = fibre.stack.get();
        fibre.start.uc_stack.ss_size = Fibres::stack_bytes;
        fibre.start.uc_link = nullptr;
        makecontext(&fibre.start, start_fibre, 0);
    }
    for (bool left = true; left;) {
        left = false;
        for (std::size_t t = 0; t < count; ++t) {
            if (block.fibres[t].done) continue;
            block.running = t;
            device().current.thread = thread_at(t, threads);
            resume_fibre();
            left = left || !block.fibres[t].done;
        }
    }
}

template <class Kernel>
void run_grid(const Kernel& kernel, dim3 blocks, dim3 threads) {
    const std::size_t count = std::size_t{threads.x} * threads.y * threads.z;
    Thread& current = device().current;
    current.threads = threads;
    current.blocks = blocks;
    for (unsigned z = 0; z < blocks.z; ++z)
        for (unsigned y = 0; y < blocks.y; ++y)
            for (unsigned x = 0; x < blocks.x; ++x) {
                current.block = {x, y, z};
                if constexpr (Kernel::barriers) {
                    run_fibres(count, threads, [&kernel] { kernel(); });
                } else {
                    for (std::size_t t = count; t-- > 0;) {
                        current.thread = thread_at(t, threads);
                        kernel();
                    }
                }
            }
}

// --- Memory

// The host may not touch the device's memory: with the address sanitizer it is found out.
inline void set_accessible([[maybe_unused]] bool accessible) {
#if defined(__SANITIZE_ADDRESS__)
    for (const auto& [start, bytes] : device().memory) {
        if (accessible)
            __asan_unpoison_memory_region(start, bytes);
        else
            __asan_poison_memory_region(start, bytes);
    }
#endif
}

// --- Streams

using Task = std::function<void()>;

struct Stream {
    std::deque<Task> waiting;
    std::vector<Task>* captured = nullptr;

    void add(Task task) {
        if (captured != nullptr)
            captured->push_back(std::move(task));
        else
            waiting.push_back(std::move(task));
    }
    void run_until(const bool* done) {
        while (!waiting.empty() && (done == nullptr || !*done)) {
            const Task task = std::move(waiting.front());
            waiting.pop_front();
            task();
        }
    }
};

struct Event {
    Stream* stream = nullptr;
    std::shared_ptr<bool> happened = std::make_shared<bool>(true);
};

// Runs work of the device, whose memory only it may touch.
inline Task on_device(Task work) {
    return [work = std::move(work)] {
        set_accessible(true);
        work();
        set_accessible(false);
    };
}

template <class Kernel>
void launch(const Kernel& kernel, dim3 blocks, dim3 threads, Stream* stream) {
    stream->add(on_device([=] { run_grid(kernel, blocks, threads); }));
}

}  // namespace emulated

#define threadIdx (emulated::device().current.thread)
#define blockIdx (emulated::device().current.block)
#define blockDim (emulated::device().current.threads)
#define gridDim (emulated::device().current.blocks)

inline void __syncthreads() {
    emulated::barrier();
}
template <class T>
T atomicMax(T* place, T value) {
    const T before = *place;
    if (before < value) *place = value;
    return before;
}

// --- The runtime's functions that this folder calls

enum emulatedError_t { emulatedSuccess, emulatedErrorMemoryAllocation, emulatedErrorInvalidValue };
using emulatedStream_t = emulated::Stream*;
using emulatedEvent_t = emulated::Event*;
using emulatedGraph_t = std::vector<emulated::Task>*;
using emulatedGraphExec_t = std::vector<emulated::Task>*;
enum { emulatedStreamNonBlocking, emulatedEventDisableTiming, emulatedStreamCaptureModeThreadLocal };
enum emulatedMemcpyKind { emulatedMemcpyHostToDevice, emulatedMemcpyDeviceToHost };

inline const char* emulatedGetErrorString(emulatedError_t error) {
    switch (error) {
        case emulatedSuccess:
            return "no error";
        case emulatedErrorMemoryAllocation:
            return "out of memory";
        case emulatedErrorInvalidValue:
            return "invalid argument";
    }
    return "unknown error";
}

inline emulatedError_t emulatedGetDeviceCount(int* count) {
    *count = 1;
    return emulatedSuccess;
}
inline emulatedError_t emulatedSetDevice(int number) {
    return number == 0 ? emulatedSuccess : emulatedErrorInvalidValue;
}
struct emulatedDeviceProp_t {
    char name[256] = "emulation on the host";
    int l2CacheSize = 1 << 17;
};
inline emulatedError_t emulatedGetDeviceProperties(emulatedDeviceProp_t*, int) {
    return emulatedSuccess;
}
inline emulatedError_t emulatedDeviceGetPCIBusId(char* text, int length, int) {
    std::strncpy(text, "host", static_cast<std::size_t>(length));
    return emulatedSuccess;
}
inline emulatedError_t emulatedMemGetInfo(std::size_t* available, std::size_t* total) {
    *available = emulated::device().free_bytes();
    *total = emulated::Device::total_bytes;
    return emulatedSuccess;
}

inline emulatedError_t emulatedMalloc(void** place, std::size_t bytes) {
    if (bytes > emulated::device().free_bytes()) return emulatedErrorMemoryAllocation;
    *place = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    if (*place == nullptr) return emulatedErrorMemoryAllocation;
    std::memset(*place, 0xff, bytes);  // not a number, until something is written
    emulated::device().memory[*place] = bytes;
    emulated::set_accessible(false);
    return emulatedSuccess;
}
inline emulatedError_t emulatedFree(void* place) {
    emulated::set_accessible(true);
    emulated::device().memory.erase(place);
    std::free(place);
    emulated::set_accessible(false);
    return emulatedSuccess;
}
inline emulatedError_t emulatedMallocHost(void** place, std::size_t bytes) {
    *place = std::malloc(bytes);
    return *place == nullptr ? emulatedErrorMemoryAllocation : emulatedSuccess;
}
inline emulatedError_t emulatedFreeHost(void* place) {
    std::free(place);
    return emulatedSuccess;
}

inline emulatedError_t emulatedStreamCreateWithFlags(emulatedStream_t* stream, unsigned) {
    *stream = new emulated::Stream;
    return emulatedSuccess;
}
inline emulatedError_t emulatedStreamSynchronize(emulatedStream_t stream) {
    if (stream->captured != nullptr) return emulatedErrorInvalidValue;
    stream->run_until(nullptr);
    return emulatedSuccess;
}
inline emulatedError_t emulatedStreamDestroy(emulatedStream_t stream) {
    delete stream;
    return emulatedSuccess;
}
inline emulatedError_t emulatedMemcpyAsync(void* to, const void* from, std::size_t bytes, emulatedMemcpyKind,
                                           emulatedStream_t stream) {
    stream->add(emulated::on_device([=] { std::memcpy(to, from, bytes); }));
    return emulatedSuccess;
}
inline emulatedError_t emulatedMemsetAsync(void* place, int value, std::size_t bytes,
                                           emulatedStream_t stream) {
    stream->add(emulated::on_device([=] { std::memset(place, value, bytes); }));
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
inline emulatedError_t emulatedEventDestroy(emulatedEvent_t event) {
    delete event;
    return emulatedSuccess;
}

inline emulatedError_t emulatedStreamBeginCapture(emulatedStream_t stream, int) {
    if (stream->captured != nullptr) return emulatedErrorInvalidValue;
    stream->captured = new std::vector<emulated::Task>;
    return emulatedSuccess;
}
inline emulatedError_t emulatedStreamEndCapture(emulatedStream_t stream, emulatedGraph_t* graph) {
    *graph = std::exchange(stream->captured, nullptr);
    return emulatedSuccess;
}
inline emulatedError_t emulatedGraphInstantiateWithFlags(emulatedGraphExec_t* exec, emulatedGraph_t graph,
                                                         unsigned long long) {
    *exec = new std::vector<emulated::Task>(*graph);
    return emulatedSuccess;
}
inline emulatedError_t emulatedGraphLaunch(emulatedGraphExec_t exec, emulatedStream_t stream) {
    for (const emulated::Task& task : *exec) stream->add(task);
    return emulatedSuccess;
}
inline emulatedError_t emulatedGraphDestroy(emulatedGraph_t graph) {
    delete graph;
    return emulatedSuccess;
}
inline emulatedError_t emulatedGraphExecDestroy(emulatedGraphExec_t exec) {
    delete exec;
    return emulatedSuccess;
}
