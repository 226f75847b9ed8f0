#include "miniapp/setup/machine/machine_facts.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "kernels/timing/ledger.hpp"

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
    if (simulated()) return {};
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

std::vector<int> sockets_of_processes(const Communicator& comm) {
    const std::int64_t mine = socket_of_process().value_or(-1 - comm.rank());
    const auto all = comm.all_gather({&mine, 1});
    return {all.begin(), all.end()};
}

namespace {

using Processors = std::vector<std::int64_t>;  // their numbers, ascending

// Those that this process may run on; none if the system does not tell.
Processors allowed_processors() {
    cpu_set_t set;
    CPU_ZERO(&set);
    Processors allowed;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return allowed;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &set)) allowed.push_back(cpu);
    return allowed;
}

// "0-1,4"
std::string text_of(const Processors& all) {
    std::string text;
    for (std::size_t n = 0; n < all.size();) {
        std::size_t last = n;
        while (last + 1 < all.size() && all[last + 1] == all[last] + 1) ++last;
        text += (text.empty() ? "" : ",") + std::to_string(all[n]) +
                (last > n ? "-" + std::to_string(all[last]) : "");
        n = last + 1;
    }
    return text;
}

// Where OpenMP binds threads by itself the first one's processors are not those of the others.
bool threads_bound_by_openmp() {
    const char* const bound = std::getenv("OMP_PROC_BIND");
    if (bound != nullptr) return std::string(bound) != "false" && std::string(bound) != "FALSE";
    return std::getenv("OMP_PLACES") != nullptr || std::getenv("GOMP_CPU_AFFINITY") != nullptr ||
           std::getenv("KMP_AFFINITY") != nullptr;
}

}  // namespace

std::string cpu_binding() {
    const Processors allowed = allowed_processors();
    return allowed.empty() ? "unknown" : text_of(allowed);
}

Crowd most_crowded(const Communicator& comm, const Topology& detected, int threads) {
    Processors mine = allowed_processors();
    if (mine.empty() || (threads > 1 && threads_bound_by_openmp())) {
        mine.resize(static_cast<std::size_t>(processors()));
        std::iota(mine.begin(), mine.end(), 0);
    }
    // Of each rank of the node: threads, number of processors, processors.
    std::vector<std::int64_t> told{threads, static_cast<std::int64_t>(mine.size())};
    told.insert(told.end(), mine.begin(), mine.end());
    const auto all = comm.split(detected.node(comm.rank())).all_gather(told);
    std::vector<std::pair<int, Processors>> ranks;
    std::set<std::int64_t> of_node;
    for (auto at = all.begin(); at != all.end();) {
        const auto first = at + 2;
        ranks.emplace_back(static_cast<int>(*at), Processors(first, first + at[1]));
        of_node.insert(first, first + at[1]);
        at = first + at[1];
    }
    Crowd worst;
    for (const Processors& some : {mine, Processors(of_node.begin(), of_node.end())}) {
        Crowd crowd{0, 0, static_cast<int>(some.size()), text_of(some)};
        for (const auto& [its_threads, its_processors] : ranks) {
            if (!std::ranges::includes(some, its_processors)) continue;
            ++crowd.ranks;
            crowd.threads += its_threads;
        }
        if (crowd.crowding() >= worst.crowding()) worst = crowd;
    }
    const std::vector<double> numbers{1.0 * worst.ranks, 1.0 * worst.threads, 1.0 * worst.processors};
    const std::vector<double> of_all = comm.gather(numbers);
    const std::vector<std::string> places = comm.gather(worst.where);
    for (std::size_t rank = 0; rank < places.size(); ++rank) {
        const double* const row = &of_all[3 * rank];
        const Crowd crowd{static_cast<int>(row[0]), static_cast<int>(row[1]), static_cast<int>(row[2]),
                          places[rank]};
        if (crowd.crowding() > worst.crowding()) worst = crowd;
    }
    return worst;
}

int processors() {
    return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
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
    // To stream the cache of a device takes no longer than to launch that and to wait for it.
    double bytes = device_cache > 0 ? 32 * static_cast<double>(device_cache) : 4 * cache / ranks_on_node;
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
