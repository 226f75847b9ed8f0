#include "miniapp/setup/machine/devices.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <functional>
#include <map>

#include "kernels/backends/registry.hpp"

namespace keel {

Processors processors_beside(std::string pci_address, const std::filesystem::path& root) {
    for (char& letter : pci_address) letter = static_cast<char>(std::tolower(letter));
    std::ifstream list(root / "sys/bus/pci/devices" / pci_address / "local_cpulist");  // 0-15,64-79
    Processors beside;
    for (std::int64_t first = 0; list >> first; list.ignore()) {
        std::int64_t last = first;
        if (list.peek() == '-') list.ignore() >> last;
        for (; first <= last; ++first) beside.push_back(first);
    }
    return beside;
}

std::vector<int> devices_of_ranks(const std::vector<std::vector<SeenDevice>>& of_ranks) {
    const std::size_t ranks = of_ranks.size();
    std::map<std::int64_t, std::size_t> taken;  // ranks on each device
    for (const auto& seen : of_ranks)
        for (const SeenDevice& device : seen) taken[device.id] = 0;
    const std::size_t share = taken.empty() ? 0 : (ranks + taken.size() - 1) / taken.size();
    std::vector<int> chosen(ranks, -1);
    // Far devices are assigned last, so that no rank takes the only one near another.
    for (const bool far_too : {false, true})
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            if (chosen[rank] >= 0) continue;
            const auto load = [&](const SeenDevice& device) {
                return far_too || (device.near && taken[device.id] < share) ? taken[device.id] : ranks;
            };
            const auto best = std::ranges::min_element(of_ranks[rank], {}, load);
            if (best == of_ranks[rank].end() || load(*best) == ranks) continue;
            ++taken[best->id];
            chosen[rank] = static_cast<int>(best - of_ranks[rank].begin());
        }
    return chosen;
}

int device_of_rank(const std::string& backend, const Topology& detected, const Communicator& comm) {
    const std::vector<std::string> addresses = devices_of(backend).addresses;
    if (addresses.empty()) return 0;
    const Processors mine = allowed_processors();
    std::vector<std::int64_t> words{static_cast<std::int64_t>(addresses.size())};
    for (const std::string& address : addresses) {
        Processors both;
        std::ranges::set_intersection(mine, processors_beside(address), std::back_inserter(both));
        words.push_back(static_cast<std::int64_t>(std::hash<std::string>()(address)));
        words.push_back(both.empty() ? 0 : 1);
    }
    std::vector<std::vector<SeenDevice>> of_ranks;
    const auto all = comm.split(detected.node(comm.rank())).all_gather(words);
    for (auto at = all.begin(); at != all.end();) {
        auto& seen = of_ranks.emplace_back();
        for (auto count = *at++; count > 0; --count, at += 2) seen.push_back({at[0], at[1] != 0});
    }
    return devices_of_ranks(of_ranks)[static_cast<std::size_t>(detected.local_rank(comm.rank()))];
}

}  // namespace keel
