#include "miniapp/setup/machine/processors.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <set>
#include <utility>

#include "kernels/backends/threads.hpp"
#include "miniapp/setup/machine/control_groups.hpp"

namespace keel {
namespace {

std::vector<Quota> quotas_of(const std::filesystem::path& root) {
    std::vector<Quota> quotas;
    for (const std::filesystem::path& group : control_groups("cpu", root)) {
        // Version 2 has both in one file. Without a limit "max" is no number, and -1 is none.
        double microseconds = 0;
        double period = 0;
        if (!(std::ifstream(group / "cpu.max") >> microseconds >> period)) {
            std::ifstream(group / "cpu.cfs_quota_us") >> microseconds;
            std::ifstream(group / "cpu.cfs_period_us") >> period;
        }
        struct stat folder {};
        if (microseconds > 0 && period > 0 && ::stat(group.c_str(), &folder) == 0)
            quotas.push_back(
                {static_cast<std::int64_t>(folder.st_ino), microseconds / period, group.string()});
    }
    return quotas;
}

constexpr int most_processors = 1 << 20;  // no node has more

// For messages between ranks: the threads' processors and the quotas, each list after its length.
constexpr double micro = 1e6;
std::vector<std::int64_t> packed(const UsableProcessors& usable) {
    std::vector<std::int64_t> words{static_cast<std::int64_t>(usable.of_threads.size())};
    for (const Processors& some : usable.of_threads) {
        words.push_back(static_cast<std::int64_t>(some.size()));
        words.insert(words.end(), some.begin(), some.end());
    }
    words.push_back(static_cast<std::int64_t>(usable.quotas.size()));
    for (const Quota& quota : usable.quotas)
        words.insert(words.end(), {quota.id, std::llround(micro * quota.processors)});
    return words;
}

std::vector<UsableProcessors> unpacked(const std::vector<std::int64_t>& words) {
    std::vector<UsableProcessors> ranks;
    for (auto at = words.begin(); at != words.end();) {
        UsableProcessors& usable = ranks.emplace_back();
        for (auto threads = *at++; threads > 0; --threads) {
            const auto count = *at++;
            usable.of_threads.emplace_back(at, at + count);
            at += count;
        }
        for (auto quotas = *at++; quotas > 0; --quotas, at += 2)
            usable.quotas.push_back({at[0], static_cast<double>(at[1]) / micro, ""});
    }
    return ranks;
}

}  // namespace

int processors() {
    return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
}

std::string text_of(const Processors& all) {
    std::string text;
    for (std::size_t n = 0; n < all.size();) {
        std::size_t last = n;
        while (last + 1 < all.size() && all[last + 1] == all[last] + 1) ++last;
        text += (text.empty() ? "" : ",") + std::to_string(all[n]) +
                (last > n ? "-" + std::to_string(all[last]) : "");
        n = last + 1;
    }
    return text.empty() ? "unknown" : text;
}

Processors allowed_processors(GetAffinity get_affinity) {
    // The system refuses a set that is smaller than its own.
    for (int count = CPU_SETSIZE; count <= most_processors; count *= 2) {
        const std::size_t bytes = CPU_ALLOC_SIZE(count);
        std::vector<cpu_set_t> set(bytes / sizeof(cpu_set_t));
        if (get_affinity(0, bytes, set.data()) == 0) {
            Processors allowed;
            for (int cpu = 0; cpu < count; ++cpu)
                if (CPU_ISSET_S(static_cast<std::size_t>(cpu), bytes, set.data())) allowed.push_back(cpu);
            return allowed;
        }
        if (errno != EINVAL) break;
    }
    return {};
}

Processors UsableProcessors::all() const {
    std::set<std::int64_t> together;
    for (const Processors& some : of_threads) together.insert(some.begin(), some.end());
    return {together.begin(), together.end()};
}

UsableProcessors usable_processors(int threads, const std::filesystem::path& root) {
    // A backend may have threads that no parallel region has: they are assumed to be bound as this one.
    UsableProcessors usable{std::vector(static_cast<std::size_t>(threads), allowed_processors()),
                            quotas_of(root)};
    on_every_thread([&](int thread) {
        if (thread < threads) usable.of_threads[static_cast<std::size_t>(thread)] = allowed_processors();
    });
    return usable;
}

Crowd most_crowded(const UsableProcessors& rank, const std::vector<UsableProcessors>& of_node) {
    Crowd worst;
    const auto consider = [&](Crowd crowd, const auto& threads_of) {
        for (const UsableProcessors& one : of_node) {
            const auto threads = static_cast<int>(threads_of(one));
            crowd.ranks += threads > 0 ? 1 : 0;
            crowd.threads += threads;
        }
        if (crowd.crowding() >= worst.crowding()) worst = std::move(crowd);
    };
    for (const Quota& quota : rank.quotas)
        consider({.processors = quota.processors, .quota = true, .where = quota.group},
                 [&](const UsableProcessors& one) {
                     const bool shared =
                         std::ranges::find(one.quotas, quota.id, &Quota::id) != one.quotas.end();
                     return shared ? one.of_threads.size() : 0;
                 });
    // The largest of equally crowded ones comes last.
    const std::set<Processors> distinct(rank.of_threads.begin(), rank.of_threads.end());
    std::vector<Processors> places(distinct.begin(), distinct.end());
    places.push_back(rank.all());
    UsableProcessors node;
    for (const UsableProcessors& one : of_node) node.of_threads.push_back(one.all());
    places.push_back(node.all());
    for (const Processors& place : places)
        consider({.processors = static_cast<double>(place.size()), .where = text_of(place)},
                 [&](const UsableProcessors& one) {
                     return std::ranges::count_if(one.of_threads, [&](const Processors& some) {
                         return std::ranges::includes(place, some);
                     });
                 });
    return worst;
}

std::vector<UsableProcessors> usable_on_node(const Communicator& comm, const Topology& detected,
                                             const UsableProcessors& mine) {
    return unpacked(comm.split(detected.node(comm.rank())).all_gather(packed(mine)));
}

int threads_that_fit(const Communicator& comm, const Topology& detected, const UsableProcessors& mine) {
    const UsableProcessors one_thread{{mine.all()}, mine.quotas};
    const Crowd crowd = most_crowded(one_thread, usable_on_node(comm, detected, one_thread));
    const double room = crowd.crowding() > 0 ? std::floor(1 / crowd.crowding() + 1e-9) : 1.0;
    return static_cast<int>(comm.min(std::max(1.0, room)));
}

}  // namespace keel
