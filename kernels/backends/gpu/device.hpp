#pragma once

// This rank's device: its memory, its streams, and how launches reach it.

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernels/backends/gpu/kernels.hpp"
#include "kernels/backends/gpu/padding.hpp"
#include "kernels/backends/registry.hpp"
#include "kernels/single_launch.hpp"
#include "kernels/timing/device_counts.hpp"

namespace keel {
namespace {

// Memory of a device, or pinned memory of the host. When it is freed, no launch is pending and no graph left.
using Memory = std::unique_ptr<void, std::function<void(void*)>>;

// A sequence of launches that was seen before is replayed as a graph: one launch for all. Launches wait here
// until the host needs a result. Sequences are compared by every byte that they pass to the device, so a
// replay does exactly what the launches would have done; those that pass numbers of their own (a Krylov
// method's coefficients) never recur and go out one by one.
class LaunchQueue {
  public:
    static constexpr std::size_t longest =
        256;  // launches in a sequence: it is sent then, so that the device starts
    static constexpr std::size_t worthwhile = 4;  // shorter ones are not worth a graph
    static constexpr std::size_t remembered = 512;

    explicit LaunchQueue(DeviceLog& log) : log_(log) {}
    LaunchQueue(const LaunchQueue&) = delete;
    LaunchQueue& operator=(const LaunchQueue&) = delete;
    ~LaunchQueue() { forget_all(); }

    void add(std::function<void(Stream)> launch, const std::string& bytes, Stream stream) {
        launches_.push_back(std::move(launch));
        rows_.push_back(log_.row());
        key_ += bytes;
        if (launches_.size() >= longest) send(stream);
    }

    void send(Stream stream) {
        if (launches_.empty()) return;
        const auto launches = std::exchange(launches_, {});
        const auto rows = std::exchange(rows_, {});
        const auto key = std::exchange(key_, {});
        const auto send_all = [&] {
            for (const auto& launch : launches) launch(stream);
        };
        const auto count = [&](long DeviceCounts::*as) {
            for (const int row : rows) log_.note(row, as);
        };
        if (graphs_.size() > remembered) forget([](Graph graph) { return graph == nullptr; });
        const bool repeats = launches.size() >= worthwhile && !graphs_.try_emplace(key, nullptr).second;
        if (!repeats) {
            count(&DeviceCounts::launches);
            return send_all();
        }
        Graph& graph = graphs_.at(key);
        if (graph == nullptr) graph = record(send_all, stream);
        checked(GPU(GraphLaunch)(graph, stream), "GraphLaunch");
        count(&DeviceCounts::nodes);
        log_.note(&DeviceCounts::replays);
    }

    // Called before memory is freed that graphs may name: its address may come back, and their keys with it.
    void forget_all() {
        forget([](Graph) { return true; });
    }

  private:
    template <class Action>
    static Graph record(const Action& action, Stream stream) {
        GPU(Graph_t) graph{};
        Graph executable{};
        checked(GPU(StreamBeginCapture)(stream, GPU(StreamCaptureModeThreadLocal)), "StreamBeginCapture");
        action();
        checked(GPU(StreamEndCapture)(stream, &graph), "StreamEndCapture");
        checked(GPU(GraphInstantiateWithFlags)(&executable, graph, 0), "GraphInstantiateWithFlags");
        checked(GPU(GraphDestroy)(graph), "GraphDestroy");
        return executable;
    }
    template <class Condition>
    void forget(const Condition& condition) {
        std::erase_if(graphs_, [&](const auto& entry) {
            if (!condition(entry.second)) return false;
            if (entry.second != nullptr) static_cast<void>(GPU(GraphExecDestroy)(entry.second));
            return true;
        });
    }

    DeviceLog& log_;
    std::vector<std::function<void(Stream)>> launches_;
    std::vector<int> rows_;  // the rows that asked for them
    std::string key_;
    std::unordered_map<std::string, Graph> graphs_;
};

inline std::string pci_address(int device) {
    char address[64] = "";
    checked(GPU(DeviceGetPCIBusId)(address, sizeof address, device), "DeviceGetPCIBusId");
    return address;
}

// Two streams: kernels and copies between boxes run on one; messages are packed, copied and unpacked on the
// other, so that they pass by the interior's kernels. Where every launch is waited for, or is replayed, one
// stream does both.
class Device {
  public:
    Device(int number, GpuSync sync) : sync_(sync) {
        int count = 0;
        checked(GPU(GetDeviceCount)(&count), "GetDeviceCount");
        number_ = number % count;
        checked(GPU(SetDevice)(number_), "SetDevice");
        compute_ = new_stream();
        transfer_ = sync == GpuSync::lazy ? new_stream() : compute_;
        checked(GPU(EventCreateWithFlags)(&event_, GPU(EventDisableTiming)), "EventCreateWithFlags");
    }
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;
    ~Device() {
        staging_ = nullptr;
        static_cast<void>(GPU(EventDestroy)(event_));
        if (transfer_ != compute_) static_cast<void>(GPU(StreamDestroy)(transfer_));
        static_cast<void>(GPU(StreamDestroy)(compute_));
    }

    int number() const { return number_; }
    std::string describe() const {
        const DeviceProperties properties = this->properties();
        return std::to_string(number_) + " (" + properties.name + ", " + pci_address(number_) + ")";
    }
    std::size_t free_bytes() const {
        std::size_t available = 0;
        std::size_t total = 0;
        checked(GPU(MemGetInfo)(&available, &total), "MemGetInfo");
        return available;
    }

    // Both edges of the memory's clock carry a bit on each line of the bus.
    double bytes_per_second() const {
        int kilohertz = 0;
        int bits = 0;
        checked(GPU(DeviceGetAttribute)(&kilohertz, memory_clock, number_), "DeviceGetAttribute");
        checked(GPU(DeviceGetAttribute)(&bits, memory_bus_width, number_), "DeviceGetAttribute");
        return 2 * 1e3 * kilohertz * bits / 8;
    }

    std::size_t cache_bytes() const { return static_cast<std::size_t>(properties().l2CacheSize); }

    // Zeroed.
    Memory allocate(std::size_t bytes) {
        void* place = nullptr;
        checked(GPU(Malloc)(&place, bytes > 0 ? bytes : 1), "Malloc");
        Memory memory = owned(place, [](void* freed) { static_cast<void>(GPU(Free)(freed)); });
        wait();
        checked(GPU(MemsetAsync)(place, 0, bytes, compute_), "MemsetAsync");
        wait();
        return memory;
    }
    Memory allocate_pinned(std::size_t bytes) {
        return owned(malloc_pinned(bytes > 0 ? bytes : 1), free_pinned);
    }

    // Pinned memory that kernels read and write themselves. It is the same for every caller, who waits before
    // the host uses it.
    double* staging(std::size_t values) {
        if (values > staging_values_) {
            staging_ = nullptr;
            staging_ = allocate_pinned(values * sizeof(double));
            staging_values_ = values;
        }
        return static_cast<double*>(staging_.get());
    }

    template <class Kernel>
    void launch(const Kernel& kernel) {
        send(start_of(kernel), [&] { return bytes_of_launch(kernel); });
    }
    // A kernel as another source hands it over, and its launch.
    template <class Kernel>
    static BlockKernel handed(const Kernel& kernel) {
        return {start_of(kernel), bytes_of_launch(kernel)};
    }
    void launch(const BlockKernel& kernel) {
        send(kernel.start, [&] { return kernel.bytes; });
    }
    // Copies at once, after all other work and in no graph: host memory may be pageable, and need not last.
    void copy_now(void* to, const void* from, std::size_t bytes, GPU(MemcpyKind) kind) {
        wait();
        if (bytes == 0) return;
        checked(GPU(MemcpyAsync)(to, from, bytes, kind, compute_), "MemcpyAsync");
        note_copy(bytes);
        log_.note(&DeviceCounts::launches);
        wait_for_current();
    }
    // Copies, which graphs may repeat: host memory is pinned.
    void copy(void* to, const void* from, std::size_t bytes, GPU(MemcpyKind) kind) {
        note_copy(bytes);
        send([=](Stream stream) { checked(GPU(MemcpyAsync)(to, from, bytes, kind, stream), "MemcpyAsync"); },
             [&] { return bytes_of(to) + bytes_of(from) + bytes_of(bytes); });
    }

    // Waits for all work of the current stream.
    void wait_for_current() {
        if (log_.silent()) return;
        queue_.send(current());
        wait_for(current());
    }
    // Waits for all work.
    void wait() {
        if (log_.silent()) return;
        queue_.send(compute_);
        wait_for(compute_);
        if (transfer_ != compute_) checked(GPU(StreamSynchronize)(transfer_), "StreamSynchronize");
    }
    // How often the host has waited for all kernels launched before.
    long waits() const { return compute_waits_; }

    DeviceLog& log() { return log_; }

    // Runs `action` on the stream of messages.
    template <class Action>
    void on_transfer(const Action& action) {
        on_transfer_ = true;
        action();
        on_transfer_ = false;
    }
    // Kernels launched from now on on one stream start after those launched so far on the other.
    void transfer_follows_compute() { follow(transfer_, compute_); }
    void compute_follows_transfer() { follow(compute_, transfer_); }

  private:
    Memory owned(void* place, void (*free)(void*)) {
        return {place, [this, free](void* freed) {
                    try {
                        wait();
                    } catch (const std::runtime_error&) {
                        // The device has failed before, and that was reported.
                    }
                    queue_.forget_all();
                    free(freed);
                }};
    }
    DeviceProperties properties() const {
        DeviceProperties properties{};
        checked(GPU(GetDeviceProperties)(&properties, number_), "GetDeviceProperties");
        return properties;
    }
    void wait_for(Stream stream) {
        checked(GPU(StreamSynchronize)(stream), "StreamSynchronize");
        log_.note(&DeviceCounts::waits);
        if (stream == compute_) ++compute_waits_;
    }
    Stream current() const { return on_transfer_ ? transfer_ : compute_; }

    void follow(Stream later, Stream earlier) {
        if (later == earlier) return;
        checked(GPU(EventRecord)(event_, earlier), "EventRecord");
        checked(GPU(StreamWaitEvent)(later, event_, 0), "StreamWaitEvent");
    }

    template <class Launch, class Bytes>
    void send(const Launch& launch, const Bytes& bytes) {
        if (log_.silent()) return;
        if (sync_ == GpuSync::graphs) return queue_.add(launch, bytes(), compute_);
        launch(current());
        log_.note(&DeviceCounts::launches);
        if (sync_ == GpuSync::per_operation) wait_for_current();
    }

    void note_copy(std::size_t bytes) {
        log_.note(&DeviceCounts::copies);
        log_.note(&DeviceCounts::copied_bytes, static_cast<long>(bytes));
    }

    template <class T>
    static std::string bytes_of(T value) {
        clear_padding(value);
        return {reinterpret_cast<const char*>(&value), sizeof value};
    }
    template <class Kernel>
    static auto start_of(const Kernel& kernel) {
        return [kernel, grid = kernel.grid()](void* stream) {
            keel::launch(kernel, grid.blocks, grid.threads, static_cast<Stream>(stream));
        };
    }
    template <class Kernel>
    static std::string bytes_of_launch(const Kernel& kernel) {
        static const char identity = 0;  // one address for each type of kernel
        return bytes_of(&identity) + bytes_of(kernel);
    }
    static Stream new_stream() {
        Stream stream{};
        checked(GPU(StreamCreateWithFlags)(&stream, GPU(StreamNonBlocking)), "StreamCreateWithFlags");
        return stream;
    }

    GpuSync sync_;
    int number_ = 0;
    Stream compute_{};
    Stream transfer_{};
    Event event_{};
    bool on_transfer_ = false;
    long compute_waits_ = 0;
    DeviceLog log_;
    LaunchQueue queue_{log_};
    Memory staging_;
    std::size_t staging_values_ = 0;
};

}  // namespace
}  // namespace keel
