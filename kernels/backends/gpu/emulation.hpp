#pragma once

// A device on the host, enough of one to run the device code of this folder, so that every commit tests it.
//   * A kernel with barriers runs each thread of a block on a fibre of its own; a missing barrier gives wrong
//     numbers. Without barriers (Kernel::barriers = false) it is a loop over its threads, the last first.
//   * A stream does nothing until something waits for it: a missing wait gives wrong numbers too.
//   * With the address sanitizer, device memory is poisoned while the host runs.
//   * A graph that names memory which was freed since it was recorded is not launched, also if the address
//     came back. Copies from or to pageable memory are not recorded.
// One process has one such device. The functions of its runtime are in emulated_runtime.hpp.

#include <ucontext.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <map>
#include <memory>
#include <string_view>
#include <utility>
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

// One type for whatever runs, so that a kernel costs the compiler little more than its own body.
using Task = std::function<void()>;

// --- The threads of a block

struct Thread {
    dim3 thread, block, threads, blocks;
};

// A place in a fibre or in the scheduler, for the compiler's jumps. With the address sanitizer those of the C
// library ask the kernel each time, and so do functions that the sanitizer sees jump. Clang has jumps of its
// own for few processors; for the others, such as Arm's, the C library's contexts are slow and good.
#if !defined(__clang__) || defined(__x86_64__) || defined(__powerpc64__)
using Point = void* [5];

// A function of its own: a jump that GCC sees beside the places that it may lead to goes to the wrong one.
[[noreturn, gnu::noinline, gnu::no_sanitize_address]] inline void jump(Point& to) {
    __builtin_longjmp(to, 1);
}
// Goes on at `to`, and returns when something goes on at `from`.
[[gnu::noinline, gnu::no_sanitize_address]] inline void go_on(Point& from, Point& to) {
    if (__builtin_setjmp(from) == 0) jump(to);
}
// The same for a context that nothing has run in.
[[gnu::noinline, gnu::no_sanitize_address]] inline void begin(Point& from, const ucontext_t& context) {
    if (__builtin_setjmp(from) != 0) return;
    setcontext(&context);
    std::abort();  // never reached, but a last call would take this function's place on the stack
}
#else
using Point = ucontext_t;

inline void go_on(Point& from, const Point& to) {
    swapcontext(&from, &to);
}
inline void begin(Point& from, const ucontext_t& context) {
    swapcontext(&from, &context);
}
#endif

struct Fibres {
    static constexpr std::size_t stack_bytes = 64 * 1024;

    struct Fibre {
        Point point;  // the barrier that the thread waits at
        std::unique_ptr<char[]> stack = std::make_unique<char[]>(stack_bytes);
        bool started = false;
        bool done = false;
    };
    std::deque<Fibre> fibres;  // a point must stay where it is
    Point scheduler;
    std::size_t running = 0;
    bool forward = false;  // whether the last block began with its first thread
    const Task* body = nullptr;

    Fibre& current() { return fibres[running]; }
};

// Memory of the device, or pinned memory of the host.
struct Allocation {
    std::size_t bytes;
    bool pinned;
    long number;  // differs between all allocations of the process
};

struct Device {
    Thread current;
    Fibres block;
    std::map<const void*, Allocation> memory;
    std::map<std::size_t, std::vector<void*>> freed;  // by bytes
    long allocations = 0;
    long kernels = 0;  // run so far
    long waits = 0;    // of the host for a stream

    static constexpr std::size_t total_bytes = std::size_t{256} << 20;
    std::size_t free_bytes() const {
        std::size_t used = 0;
        for (const auto& [start, allocation] : memory) used += allocation.pinned ? 0 : allocation.bytes;
        return total_bytes - used;
    }
    // The number of the allocation that contains an address; 0 if none does.
    long allocation_at(const void* place) const {
        const auto next = memory.upper_bound(place);
        if (next == memory.begin()) return 0;
        const auto& [start, allocation] = *std::prev(next);
        const auto offset = static_cast<const char*>(place) - static_cast<const char*>(start);
        return static_cast<std::size_t>(offset) < allocation.bytes ? allocation.number : 0;
    }
};

inline Device& device() {
    static Device one;
    return one;
}

inline void barrier() {
    Fibres& block = device().block;
    go_on(block.current().point, block.scheduler);
}

// A fibre runs a thread of one block after the other.
inline void start_fibre() {
    Fibres& block = device().block;
    for (;;) {
        (*block.body)();
        block.current().done = true;
        barrier();
    }
}

// Runs the current fibre until its next barrier. Only its first entry is by a context, which asks the kernel.
inline void resume_fibre() {
    Fibres& block = device().block;
    Fibres::Fibre& fibre = block.current();
    if (fibre.started) return go_on(block.scheduler, fibre.point);
    fibre.started = true;
    ucontext_t context;
    getcontext(&context);
    context.uc_stack.ss_sp = fibre.stack.get();
    context.uc_stack.ss_size = Fibres::stack_bytes;
    context.uc_link = nullptr;
    makecontext(&context, start_fibre, 0);
    begin(block.scheduler, context);
}

inline dim3 thread_at(std::size_t t, dim3 threads) {
    const auto n = static_cast<unsigned>(t);
    return {n % threads.x, n / threads.x % threads.y, n / (threads.x * threads.y)};
}

// Runs every thread up to its next barrier, in turn, until all are done: the first one first, then the last
// one, and the other way round in the next block, so that a missing barrier shows whichever thread has the
// other's value.
inline void run_fibres(std::size_t count, dim3 threads, const Task& body) {
    Fibres& block = device().block;
    if (block.fibres.size() < count) block.fibres.resize(count);
    block.body = &body;
    for (std::size_t t = 0; t < count; ++t) block.fibres[t].done = false;
    block.forward = !block.forward;
    bool forward = !block.forward;
    for (bool left = true; left;) {
        left = false;
        forward = !forward;
        for (std::size_t n = 0; n < count; ++n) {
            const std::size_t t = forward ? n : count - 1 - n;
            if (block.fibres[t].done) continue;
            block.running = t;
            device().current.thread = thread_at(t, threads);
            resume_fibre();
            left = left || !block.fibres[t].done;
        }
    }
}

// Runs every thread to its end, the last one first.
inline void run_backwards(dim3 threads, const Task& body) {
    dim3& thread = device().current.thread;
    for (unsigned z = threads.z; z-- > 0;)
        for (unsigned y = threads.y; y-- > 0;)
            for (unsigned x = threads.x; x-- > 0;) {
                thread = {x, y, z};
                body();
            }
}

inline void run_grid(const Task& kernel, bool barriers, dim3 blocks, dim3 threads) {
    const std::size_t count = std::size_t{threads.x} * threads.y * threads.z;
    ++device().kernels;
    Thread& current = device().current;
    current.threads = threads;
    current.blocks = blocks;
    for (unsigned z = 0; z < blocks.z; ++z)
        for (unsigned y = 0; y < blocks.y; ++y)
            for (unsigned x = 0; x < blocks.x; ++x) {
                current.block = {x, y, z};
                if (barriers)
                    run_fibres(count, threads, kernel);
                else
                    run_backwards(threads, kernel);
            }
}

// --- Memory

// With the address sanitizer, poisoned memory must not be touched.
inline void poison([[maybe_unused]] const void* place, [[maybe_unused]] std::size_t bytes,
                   [[maybe_unused]] bool poisoned) {
#if defined(__SANITIZE_ADDRESS__)
    if (poisoned)
        __asan_poison_memory_region(place, bytes);
    else
        __asan_unpoison_memory_region(place, bytes);
#endif
}

// The host may not touch the device's memory.
inline void set_accessible([[maybe_unused]] bool accessible) {
#if defined(__SANITIZE_ADDRESS__)
    for (const auto& [start, allocation] : device().memory)
        if (!allocation.pinned) poison(start, allocation.bytes, !accessible);
#endif
}

// Returns the last freed address of as many bytes, as a real runtime often does; null if memory is out.
inline void* allocate(std::size_t bytes, bool pinned) {
    std::vector<void*>& freed = device().freed[bytes];
    void* place = nullptr;
    if (freed.empty()) {
        if (posix_memalign(&place, 256, bytes) != 0) return nullptr;
    } else {
        place = freed.back();
        freed.pop_back();
    }
    device().memory[place] = {bytes, pinned, ++device().allocations};
    poison(place, bytes, false);
    std::memset(place, 0xff, bytes);  // not a number, until something is written
    set_accessible(false);
    return place;
}

// Freed memory may not be touched until it is allocated again.
inline void free(void* place) {
    const auto found = device().memory.find(place);
    if (found == device().memory.end()) return;
    poison(place, found->second.bytes, true);
    device().freed[found->second.bytes].push_back(place);
    device().memory.erase(found);
}

// --- Streams

struct Node {
    Task task;
    std::map<const void*, long> names;  // addresses that the task was given, and their allocations' numbers

    // Takes for an address each word of an argument that is one. What lies in padding may be one by chance.
    void note(std::string_view argument) {
        for (std::size_t n = 0; n + sizeof(void*) <= argument.size(); n += sizeof(void*)) {
            const void* place = nullptr;
            std::memcpy(&place, argument.data() + n, sizeof place);
            if (const long number = device().allocation_at(place)) names[place] = number;
        }
    }
    bool names_freed() const {
        return std::any_of(names.begin(), names.end(), [](const auto& name) {
            return device().allocation_at(name.first) != name.second;
        });
    }
};

template <class Argument>
std::string_view bytes_of(const Argument& argument) {
    return {reinterpret_cast<const char*>(&argument), sizeof argument};
}

struct Stream {
    std::deque<Task> waiting;
    std::vector<Node>* captured = nullptr;

    void add(Task task, std::initializer_list<std::string_view> arguments = {}) {
        if (captured == nullptr) return waiting.push_back(std::move(task));
        captured->push_back({std::move(task), {}});
        for (const std::string_view argument : arguments) captured->back().note(argument);
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

inline void launch(Task kernel, bool barriers, std::string_view bytes, dim3 blocks, dim3 threads,
                   Stream* stream) {
    stream->add(on_device([kernel = std::move(kernel), barriers, blocks, threads] {
                    run_grid(kernel, barriers, blocks, threads);
                }),
                {bytes});
}

}  // namespace emulated

#define threadIdx (emulated::device().current.thread)
#define blockIdx (emulated::device().current.block)
#define blockDim (emulated::device().current.threads)
#define gridDim (emulated::device().current.blocks)

inline void __syncthreads() {
    emulated::barrier();
}
