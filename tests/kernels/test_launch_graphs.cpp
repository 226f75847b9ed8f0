#include <array>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstring>
#include <new>

#define KEEL_GPU_EMULATED
#include "kernels/backends/gpu/device.hpp"

using namespace keel;

namespace {

struct AddOne {
    static constexpr bool barriers = false;

    double* x;

    Grid grid() const { return {dim3(1), dim3(1)}; }
    void operator()() const { *x += 1.0; }
};

struct AddPadded : AddOne {
    int padded = 0;  // 4 bytes of padding behind it

    void operator()() const { AddOne::operator()(); }
};

// The functions that allocate and free memory of the emulated device, or pinned memory of the host.
struct Allocator {
    emulatedError_t (*allocate)(void**, std::size_t);
    emulatedError_t (*free)(void*);

    double* operator()() const {
        void* place = nullptr;
        REQUIRE(allocate(&place, sizeof(double)) == emulatedSuccess);
        return static_cast<double*>(place);
    }
};

template <class Action>
emulatedGraphExec_t recorded(emulatedStream_t stream, const Action& action) {
    emulatedGraph_t graph = nullptr;
    emulatedGraphExec_t executable = nullptr;
    REQUIRE(emulatedStreamBeginCapture(stream, emulatedStreamCaptureModeThreadLocal) == emulatedSuccess);
    action();
    REQUIRE(emulatedStreamEndCapture(stream, &graph) == emulatedSuccess);
    REQUIRE(emulatedGraphInstantiateWithFlags(&executable, graph, 0) == emulatedSuccess);
    REQUIRE(emulatedGraphDestroy(graph) == emulatedSuccess);
    return executable;
}

}  // namespace

TEST_CASE("the emulation launches no graph that names freed memory, also where its address came back") {
    const Allocator on_device{emulatedMalloc, emulatedFree};
    const Allocator pinned{emulatedMallocHost, emulatedFreeHost};
    emulated::Stream stream;
    for (const bool host : {false, true}) {
        const Allocator& memory = host ? pinned : on_device;
        double* const x = memory();
        double* const y = on_device();
        const auto copy = [&] { emulatedMemcpyAsync(y, x, 8, emulatedMemcpyHostToDevice, &stream); };
        const auto add = [&] { keel::launch(AddOne{x}, dim3(1), dim3(1), &stream); };
        const emulatedGraphExec_t graph =
            host ? recorded(&stream, copy) : recorded(&stream, add);  // by an argument, or within one
        CHECK(emulatedGraphLaunch(graph, &stream) == emulatedSuccess);
        CHECK(emulatedStreamSynchronize(&stream) == emulatedSuccess);

        memory.free(x);
        CHECK(emulatedGraphLaunch(graph, &stream) == emulatedErrorGraphMemory);
        REQUIRE(memory() == x);
        CHECK(emulatedGraphLaunch(graph, &stream) == emulatedErrorGraphMemory);
        CHECK(stream.waiting.empty());
        emulatedGraphExecDestroy(graph);
        memory.free(x);
        on_device.free(y);
    }
}

TEST_CASE("the emulation records no copy of pageable memory") {
    double pageable = 1.0;
    void* place = nullptr;
    REQUIRE(emulatedMalloc(&place, sizeof pageable) == emulatedSuccess);
    emulated::Stream stream;
    const emulatedGraphExec_t graph = recorded(&stream, [&] {
        CHECK(emulatedMemcpyAsync(place, &pageable, 8, emulatedMemcpyHostToDevice, &stream) ==
              emulatedErrorGraphMemory);
        CHECK(emulatedMemcpyAsync(&pageable, place, 8, emulatedMemcpyDeviceToHost, &stream) ==
              emulatedErrorGraphMemory);
    });
    emulatedGraphExecDestroy(graph);
    emulatedFree(place);
}

TEST_CASE("no graph outlives memory of the device or pinned memory, which it may name") {
    Device device(0, GpuSync::graphs);
    auto on_device = device.allocate(sizeof(double));
    auto pinned = device.allocate_pinned(sizeof(double));
    const auto add_four = [&] {
        for (int n = 0; n < 4; ++n) device.launch(AddOne{static_cast<double*>(on_device.get())});
        device.copy(pinned.get(), on_device.get(), sizeof(double), GPU(MemcpyDeviceToHost));
        device.wait();
        return *static_cast<const double*>(pinned.get());
    };
    CHECK(add_four() == 4.0);
    CHECK(add_four() == 8.0);
    CHECK(add_four() == 12.0);
    CHECK(device.log().total().replays == 2);  // recorded at the second time

    const void* const first = on_device.get();
    on_device.reset();
    on_device = device.allocate(sizeof(double));
    REQUIRE(on_device.get() == first);
    CHECK(add_four() == 4.0);
    CHECK(device.log().total().replays == 2);
    CHECK(add_four() == 8.0);
    CHECK(device.log().total().replays == 3);

    const void* const second = pinned.get();
    pinned.reset();
    pinned = device.allocate_pinned(sizeof(double));
    REQUIRE(pinned.get() == second);
    CHECK(add_four() == 12.0);
    CHECK(device.log().total().replays == 3);
}

TEST_CASE("launches that differ in their padding alone are one sequence") {
    if (!clears_padding) return;
    Device device(0, GpuSync::graphs);
    const auto memory = device.allocate(sizeof(double));
    alignas(AddPadded) std::array<std::byte, sizeof(AddPadded)> place;
    for (const int before : {0, 0xff, 0x5a}) {
        std::memset(place.data(), before, place.size());
        const auto* const kernel = new (place.data()) AddPadded{{static_cast<double*>(memory.get())}};
        for (int n = 0; n < 4; ++n) device.launch(*kernel);
        device.wait();
    }
    CHECK(device.log().total().replays == 2);
}
