// A node's hardware, and its processors that ranks may use: quotas of control groups, and who is crowded.

#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "miniapp/setup/machine/control_groups.hpp"
#include "miniapp/setup/machine/devices.hpp"
#include "miniapp/setup/machine/hardware.hpp"
#include "miniapp/setup/machine/processors.hpp"

using namespace keel;

namespace {

// A file system with the files of these paths and texts, gone afterwards.
class FileSystem {
  public:
    explicit FileSystem(const std::vector<std::pair<std::string, std::string>>& files) {
        for (const auto& [path, text] : files) {
            std::filesystem::create_directories((root / path).parent_path());
            std::ofstream(root / path) << text << "\n";
        }
    }
    ~FileSystem() { std::filesystem::remove_all(root); }
    FileSystem(const FileSystem&) = delete;
    FileSystem& operator=(const FileSystem&) = delete;

    const std::filesystem::path root =
        std::filesystem::temp_directory_path() / ("keel_test_root_" + std::to_string(getpid()));
};

std::vector<std::pair<double, std::string>> quotas_in(
    const std::vector<std::pair<std::string, std::string>>& files) {
    const FileSystem system(files);
    std::vector<std::pair<double, std::string>> found;
    for (const Quota& quota : usable_processors(1, system.root).quotas)
        found.emplace_back(quota.processors,
                           std::filesystem::path(quota.group).lexically_relative(system.root));
    return found;
}

using Found = std::vector<std::pair<double, std::string>>;

}  // namespace

TEST_CASE("processors are those of the affinity mask, however many a node has") {
    const auto of_4096 = [](pid_t, std::size_t bytes, cpu_set_t* set) {
        if (bytes < 4096 / 8) {
            errno = EINVAL;
            return -1;
        }
        for (const std::size_t cpu : std::initializer_list<std::size_t>{0, 1, 1023, 1024, 4095})
            CPU_SET_S(cpu, bytes, set);
        return 0;
    };
    CHECK(text_of(allowed_processors(of_4096)) == "0-1,1023-1024,4095");
    const auto never = [](pid_t, std::size_t, cpu_set_t*) {
        errno = ENOSYS;
        return -1;
    };
    CHECK(text_of(allowed_processors(never)) == "unknown");
    CHECK_FALSE(allowed_processors().empty());
}

TEST_CASE("quotas are those of a control group and of all around it") {
    CHECK(quotas_in({{"proc/self/cgroup", "0::/job/step"},
                     {"sys/fs/cgroup/job/step/cpu.max", "max 100000"},
                     {"sys/fs/cgroup/job/cpu.max", "150000 100000"}}) == Found{{1.5, "sys/fs/cgroup/job"}});
    // Version 1; -1 is no quota. The container sees its own group as the outermost.
    CHECK(quotas_in({{"proc/self/cgroup", "4:memory:/job\n3:cpuacct,cpu:/docker/1f"},
                     {"sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000"},
                     {"sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000"}}) ==
          Found{{0.5, "sys/fs/cgroup/cpu"}});
    CHECK(quotas_in({{"proc/self/cgroup", "3:cpu:/job"},
                     {"sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1"},
                     {"sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000"}})
              .empty());
    CHECK(quotas_in({{"proc/self/cgroup", "3:cpuset:/job\n\nnonsense"}, {"sys/fs/cgroup/cpu.max", "1 1"}})
              .empty());
    CHECK(quotas_in({}).empty());
}

namespace {

using Files = std::vector<std::pair<std::string, std::string>>;

// Made-up processors, two threads a core: number, socket, and both threads of the core.
Files processors_of(const std::vector<std::array<std::string, 3>>& all) {
    Files files;
    for (const auto& [number, socket, core] : all) {
        const std::string topology = "sys/devices/system/cpu/cpu" + number + "/topology/";
        files.insert(files.end(),
                     {{topology + "physical_package_id", socket}, {topology + "thread_siblings_list", core}});
    }
    return files;
}

Hardware hardware_in(Files files, const Files& more = {}) {
    files.insert(files.end(), more.begin(), more.end());
    return hardware_of(FileSystem(files).root);
}

}  // namespace

TEST_CASE("hardware is what the system describes: two EPYCs, InfiniBand and four GPUs") {
    Files files = processors_of({{"0", "0", "0,4"},
                                 {"1", "0", "1,5"},
                                 {"2", "1", "2,6"},
                                 {"3", "1", "3,7"},
                                 {"4", "0", "0,4"},
                                 {"5", "0", "1,5"},
                                 {"6", "1", "2,6"},
                                 {"7", "1", "3,7"}});
    for (const std::string address : {"0000:03:00.0", "0000:41:00.0"}) {
        const std::string device = "sys/bus/pci/devices/" + address;
        files.insert(files.end(), {{device + "/class", "0x030200"},
                                   {device + "/vendor", "0x10de"},
                                   {device + "/uevent", "DRIVER=nvidia\nPCI_CLASS=30200"},
                                   {"proc/driver/nvidia/gpus/" + address + "/information",
                                    "Model: \t NVIDIA A100\nIRQ: 1"}});
    }
    const Hardware found = hardware_in(
        files, {{"proc/cpuinfo",
                 "processor\t: 0\nmodel name\t: AMD EPYC 7763 64-Core Processor\ncpu MHz\t\t: 2450.0\n\n"
                 "processor\t: 1\nmodel name\t: another\ncpu MHz\t\t: 1.0"},
                {"proc/meminfo", "MemTotal:       500000000 kB\nMemFree: 1 kB"},
                {"sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3500000"},
                {"sys/devices/system/cpu/cpufreq/policy0/x", ""},
                {"sys/devices/system/edac/mc/mc0/dimm0/dimm_mem_type", "Registered-DDR4"},
                {"sys/class/infiniband/mlx5_0/ports/1/rate", "200 Gb/sec (4X HDR)"},
                {"sys/class/infiniband/mlx5_0/device/uevent", "DRIVER=mlx5_core"},
                {"sys/class/net/ib0/device/infiniband/mlx5_0", ""},
                {"sys/class/net/ib0/device/uevent", "DRIVER=mlx5_core"},
                {"sys/class/net/eno1/device/uevent", "DRIVER=ixgbe"},
                {"sys/class/net/eno1/speed", "-1"},
                {"sys/class/net/lo/mtu", "65536"},
                {"sys/module/nvidia/version", "535.104"},
                {"sys/bus/pci/devices/0000:01:00.0/class", "0x030000"},  // the board's own screen
                {"sys/bus/pci/devices/0000:01:00.0/vendor", "0x1a03"}});
    CHECK(std::tuple(found.sockets, found.cores, found.threads) == std::tuple(2, 4, 8));
    CHECK(text_of(found) ==
          "2 x AMD EPYC 7763 64-Core Processor, 4 cores, 3.5 GHz; 512 GB Registered-DDR4; "
          "network 1 x mlx5_core 200 Gb/s, 1 x ixgbe; 2 x NVIDIA A100 (nvidia 535.104)");
}

TEST_CASE("hardware of POWER and Arm has a name, and what a container hides is unknown") {
    const Hardware power = hardware_in(
        processors_of({{"0", "0", "0-3"}, {"1", "0", "0-3"}, {"88", "8", "88-91"}}),
        {{"proc/cpuinfo", "processor\t: 0\ncpu\t\t: POWER9, altivec supported\nclock\t\t: 3800.000000MHz"},
         {"sys/bus/pci/devices/0004:04:00.0/class", "0x120000"},
         {"sys/bus/pci/devices/0004:04:00.0/vendor", "0x1002"},
         {"sys/bus/pci/devices/0004:04:00.0/device", "0x7408"}});
    CHECK(text_of(power) == "2 x POWER9, 2 cores, 3.8 GHz; 1 x vendor 0x1002, device 0x7408 (no driver)");
    CHECK_FALSE(power.network);
    const std::string grace = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd4f";
    CHECK(text_of(hardware_in(processors_of({{"0", "0", "0"}, {"1", "0", "1"}}),
                              {{"proc/cpuinfo", grace}})) == "1 x Arm Neoverse V2, 2 cores");
    const Hardware other = hardware_in({{"proc/cpuinfo", "CPU implementer\t: 0x61\nCPU part\t: 0x022"}});
    CHECK(other.processor == "implementer 0x61, part 0x022");
    // A container with /proc alone.
    const Hardware contained = hardware_in({{"proc/cpuinfo", "model name\t: AMD EPYC\ncpu MHz\t: 2596.094"},
                                            {"proc/meminfo", "MemTotal: 24684092 kB"}});
    CHECK(text_of(contained) == "AMD EPYC, 2.6 GHz; 25 GB");
    CHECK_FALSE((contained.sockets || contained.cores || contained.threads || contained.memory_type ||
                 contained.network || contained.gpus));
    CHECK(text_of(hardware_in({{"sys/class/net/lo/mtu", "65536"}})) == "unknown processor");
}

TEST_CASE("threads are crowded where they may run on fewer processors than they are") {
    const auto bound = [](std::vector<Processors> threads, std::vector<Quota> quotas = {}) {
        return UsableProcessors{std::move(threads), std::move(quotas)};
    };
    const auto all_of = [](const Crowd& crowd) {
        return std::tuple(crowd.ranks, crowd.threads, crowd.processors, crowd.quota, crowd.where);
    };
    const auto worst = [&](const std::vector<UsableProcessors>& node) {
        return all_of(most_crowded(node[0], node));
    };
    // Threads that are bound, each or all; those of another rank elsewhere do not count.
    CHECK(worst({bound({{0}, {0}, {1}}), bound({{2}, {3}})}) == std::tuple(1, 2, 1.0, false, "0"));
    CHECK(worst({bound({{0}, {1}}), bound({{2, 3}})}) == std::tuple(1, 2, 2.0, false, "0-1"));
    CHECK(worst({bound({{0, 1}, {0, 1}}), bound({{0}, {1}})}) == std::tuple(2, 4, 2.0, false, "0-1"));
    // A quota is shared by all ranks in its group.
    const Quota step{.id = 7, .processors = 1.5, .group = "/step"};
    const Quota job{.id = 8, .processors = 4, .group = "/job"};
    CHECK(worst({bound({{0}, {1}}, {step, job}), bound({{2}}, {step, job}), bound({{3}}, {job})}) ==
          std::tuple(2, 3, 1.5, true, "/step"));
    CHECK(most_crowded(bound({{0}}, {job}), {bound({{0}}, {job}), bound({{1}}, {job})}).crowding() <= 1);
}

TEST_CASE("the processors beside a device are those that the system lists for its address") {
    const FileSystem system({{"sys/bus/pci/devices/0000:c1:00.0/local_cpulist", "0-2,64,66-67"},
                             {"sys/bus/pci/devices/0000:c3:00.0/local_cpulist", "5"}});
    CHECK(processors_beside("0000:C1:00.0", system.root) == Processors{0, 1, 2, 64, 66, 67});
    CHECK(processors_beside("0000:c3:00.0", system.root) == Processors{5});
    CHECK(processors_beside("0000:c2:00.0", system.root).empty());
}

namespace {

// The devices of ranks that all see `devices` of them and are near those given.
std::vector<int> assigned(int devices, const std::vector<std::vector<int>>& near_of_ranks) {
    std::vector<std::vector<SeenDevice>> of_ranks;
    for (const auto& near : near_of_ranks) {
        auto& seen = of_ranks.emplace_back();
        for (int device = 0; device < devices; ++device)
            seen.push_back({100 + device, std::ranges::find(near, device) != near.end()});
    }
    return devices_of_ranks(of_ranks);
}

}  // namespace

TEST_CASE("a rank gets a device near it, and no device more than its share of the ranks") {
    using Expected = std::vector<int>;
    const std::vector<int> all{0, 1, 2, 3};
    CHECK(assigned(4, {all, all, all, all, all}) == Expected{0, 1, 2, 3, 0});  // unbound ranks take turns
    CHECK(assigned(4, {{}, {}, {}, {}}) == Expected{0, 1, 2, 3});              // nothing is known
    CHECK(assigned(4, {{3}, {2}, {1}, {0}}) == Expected{3, 2, 1, 0});          // EX node with four A100
    CHECK(assigned(8, {{4, 5}, {4, 5}, {2, 3}, {2, 3}, {6, 7}, {6, 7}, {0, 1}, {0, 1}}) ==
          Expected{4, 5, 2, 3, 6, 7, 0, 1});  // EX node with four MI250X
    CHECK(assigned(4, {{3}, {3}, {2}, {2}, {1}, {1}, {0}, {0}}) == Expected{3, 3, 2, 2, 1, 1, 0, 0});
    CHECK(assigned(3, {{1}, {1}, {0}}) == Expected{1, 2, 0});  // an idle far device before a shared near one
}

TEST_CASE("ranks that each see a device of their own take that") {
    CHECK(devices_of_ranks({{{7, true}}, {{8, false}}, {{9, true}}}) == std::vector<int>{0, 0, 0});
}

TEST_CASE("memory is what the tightest control group grants") {
    const std::string two = "sys/fs/cgroup/", one = "sys/fs/cgroup/memory/";
    const auto granted = [](const std::vector<std::pair<std::string, std::string>>& files) {
        return memory_granted(FileSystem(files).root);
    };
    CHECK(granted({{"proc/self/cgroup", "0::/job/step"},
                   {two + "job/memory.max", "1000000"},
                   {two + "job/step/memory.max", "max"}}) == 1000000);
    CHECK(granted({{"proc/self/cgroup", "4:cpu,cpuacct:/job\n7:memory:/job"},
                   {one + "memory.limit_in_bytes", "9223372036854771712"},
                   {one + "job/memory.limit_in_bytes", "2000000"}}) == 2000000);
    CHECK(granted({{"proc/self/cgroup", "0::/job"}, {two + "job/memory.max", "max"}}) == HUGE_VAL);
    CHECK(granted({{"proc/meminfo", ""}}) == HUGE_VAL);
}
