#include "miniapp/setup/machine_facts.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <utility>

#include "kernels/ledger.hpp"

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

std::optional<int> socket_of_process() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0) return {};
    std::optional<int> socket;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (!CPU_ISSET(cpu, &set)) continue;
        std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                           "/topology/physical_package_id");
        int package = -1;
        if (!(file >> package) || package < 0 || (socket && *socket != package)) return {};
        socket = package;
    }
    return socket;
}

std::string cpu_binding() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0) return "unknown";
    std::string text;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (!CPU_ISSET(cpu, &set)) continue;
        int last = cpu;
        while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &set)) ++last;
        text +=
            (text.empty() ? "" : ",") + std::to_string(cpu) + (last > cpu ? "-" + std::to_string(last) : "");
        cpu = last;
    }
    return text;
}

int processors() {
    return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
}

int most_ranks_per_node(const Topology& topology) {
    int most = 0;
    for (int node = 0; node < topology.nodes(); ++node) most = std::max(most, topology.size(node));
    return most;
}

int most_ranks_per_device(const std::vector<std::string>& devices, const Topology& detected) {
    std::map<std::pair<int, std::string>, int> ranks;
    int most = 1;
    for (std::size_t rank = 0; rank < devices.size(); ++rank)
        if (!devices[rank].empty())
            most = std::max(most, ++ranks[{detected.node(static_cast<int>(rank)), devices[rank]}]);
    return most;
}

namespace {

// Edge of the cube of cells of one array.
int triad_width(int ranks_on_node, std::size_t device_cache, double node_bytes) {
    // Virtual machines report the cache of a whole socket or more; beyond 32 MB the measurement would need more memory
    // than many a problem.
    const long reported = sysconf(_SC_LEVEL3_CACHE_SIZE);
    const double cache = reported > 0 ? std::min(static_cast<double>(reported), 32e6) : 32e6;
    double bytes = 4 * (device_cache > 0 ? static_cast<double>(device_cache) : cache / ranks_on_node);
    if (node_bytes > 0) bytes = node_bytes / ranks_on_node;
    const double width = std::cbrt(bytes / (3 * sizeof(double)));
    return std::clamp(static_cast<int>(width) / 8 * 8, 16, 1024);
}

}  // namespace

double measure_triad(const Communicator& comm, const Topology& topology, const Backend& backend,
                     double node_bytes) {
    const int width = triad_width(most_ranks_per_node(topology), backend.device_cache_bytes(), node_bytes);
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
        comm.barrier();  // where ranks share a core they run one after the other: the span of all counts
        const double seconds = comm.max(now() - start);
        if (repetition == 0) continue;  // it warms up
        const double bandwidth = work.bytes * comm.size() / seconds;
        without_gain = bandwidth > 1.01 * best ? 0 : without_gain + 1;
        best = std::max(best, bandwidth);
        if (repetition >= 3 && comm.max(now() < end ? 0.0 : 1.0) > 0) break;
    }
    return best;
}

}  // namespace keel
