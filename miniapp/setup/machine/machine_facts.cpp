#include "miniapp/setup/machine/machine_facts.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "kernels/backends/threads.hpp"
#include "kernels/timing/ledger.hpp"
#include "miniapp/setup/machine/processors.hpp"

namespace keel {
namespace {

std::size_t status_kilobytes(const std::string& key) {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;)
        if (word == key + ":") {
            std::size_t kilobytes = 0;
            status >> kilobytes;
            return kilobytes;
        }
    return 0;
}

// Nothing if there are several sockets, or the system does not say.
std::optional<int> socket_of_process() {
    if (simulated()) return {};
    std::optional<int> socket;
    for (const std::int64_t cpu : allowed_processors()) {
        std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                           "/topology/physical_package_id");
        int package = -1;
        if (!(file >> package) || package < 0 || (socket && *socket != package)) return {};
        socket = package;
    }
    return socket;
}

// Edge of the cube of cells of one array of the triad.
int triad_width(int ranks_on_node, std::size_t device_cache, double node_bytes, double left) {
    // Virtual machines report the cache of a whole socket or more; beyond 32 MB the measurement would need
    // more memory than many a problem.
    const long reported = sysconf(_SC_LEVEL3_CACHE_SIZE);
    const double cache = reported > 0 ? std::min(static_cast<double>(reported), 32e6) : 32e6;
    // To stream the cache of a device takes no longer than to launch that and to wait for it.
    double bytes = device_cache > 0 ? 32 * static_cast<double>(device_cache)
                                    : std::min(4 * cache / ranks_on_node, left / 2);
    if (node_bytes > 0) bytes = node_bytes / ranks_on_node;
    const double width = std::cbrt(bytes / (3 * sizeof(double)));
    return std::clamp(static_cast<int>(width) / 8 * 8, 16, 1024);
}

}  // namespace

std::size_t resident_bytes() {
    return 1024 * status_kilobytes("VmRSS");
}
std::size_t peak_resident_bytes() {
    return 1024 * status_kilobytes("VmHWM");
}

void reset_peak() {
    std::ofstream("/proc/self/clear_refs") << 5;  // proc(5): resets VmHWM
}

ProcessLimit process_limit() {
    ProcessLimit least;
    const auto consider = [&](auto resource, const std::string& name, const std::string& taken) {
        rlimit limit{};
        if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
        if (!least.given() && !simulated()) on_every_thread([](int) {});
        const double left =
            static_cast<double>(limit.rlim_cur) - 1024.0 * static_cast<double>(status_kilobytes(taken));
        if (left < least.left) least = {std::max(left, 0.0), name};
    };
    consider(RLIMIT_AS, "ulimit -v", "VmSize");
    consider(RLIMIT_DATA, "ulimit -d", "VmData");
    return least;
}

std::vector<int> sockets_of_processes(const Communicator& comm) {
    const std::int64_t mine = socket_of_process().value_or(-1 - comm.rank());
    const auto all = comm.all_gather({&mine, 1});
    return {all.begin(), all.end()};
}

std::string host_name() {
    std::array<char, 256> name{};
    return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

int most_ranks_per_node(const Topology& topology) {
    int most = 0;
    for (int node = 0; node < topology.nodes(); ++node) most = std::max(most, topology.size(node));
    return most;
}

std::vector<int> ranks_before_on_device(const std::vector<std::string>& devices, const Topology& detected) {
    std::map<std::pair<int, std::string>, int> ranks;
    std::vector<int> before(devices.size());
    for (std::size_t rank = 0; rank < devices.size(); ++rank)
        if (!devices[rank].empty())
            before[rank] = ranks[{detected.node(static_cast<int>(rank)), devices[rank]}]++;
    return before;
}

int most_ranks_per_device(const std::vector<std::string>& devices, const Topology& detected) {
    const std::vector<int> before = ranks_before_on_device(devices, detected);
    return before.empty() ? 1 : 1 + std::ranges::max(before);
}

double measure_triad(const Communicator& comm, const Topology& topology, const Backend& backend,
                     double node_bytes) {
    const int width = triad_width(most_ranks_per_node(topology), backend.device_cache_bytes(), node_bytes,
                                  comm.min(process_limit().left));
    constexpr Boundaries periodic{};
    const auto operations = backend.make_operations(Layout({1, 1, 1}, width, periodic, {0}, 0), 0);
    const Field x = operations->make_field();
    const Field y = operations->make_field();
    const Field z = operations->make_field();
    operations->fill(x, 1.0);
    operations->fill(y, 2.0);
    double best = 0;
    const double end = now() + 0.15;
    int without_gain = 0;
    for (int repetition = 0; without_gain < 5; ++repetition) {
        comm.barrier();
        const double start = now();
        const Work work = operations->axpby(z, 1.0, x, 3.0, y);
        operations->wait();
        comm.barrier();  // ranks that share a core run one after the other: the span of all counts
        const double seconds = comm.max(now() - start);
        if (repetition == 0) continue;  // it warms up
        const double bandwidth = work.bytes * comm.size() / seconds;
        without_gain = bandwidth > 1.01 * best ? 0 : without_gain + 1;
        best = std::max(best, bandwidth);
        if (repetition >= 3 && comm.max(now() < end ? 0.0 : 1.0) > 0) break;
    }
    return best;
}

double measure_launch(const Communicator& comm, const Backend& backend) {
    constexpr int operations_each = 200, runs = 5;
    const auto operations = backend.make_operations(Layout({1, 1, 1}, 2, Boundaries{}, {0}, 0), 0);
    const Field x = operations->make_field();
    const Field y = operations->make_field();
    operations->fill(x, 1.0);
    double least = std::numeric_limits<double>::infinity();
    for (int run = 0; run < runs; ++run) {
        comm.barrier();
        const double start = now();
        for (int n = 0; n < operations_each; ++n) operations->axpby(y, 1.0, x, 0.0, x);
        operations->wait();
        least = std::min(least, comm.max((now() - start) / operations_each));
    }
    return least;
}

}  // namespace keel
