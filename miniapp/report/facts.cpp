#include "miniapp/report/facts.hpp"

#include <fmt/format.h>

#include "miniapp/deck/text.hpp"
#include "miniapp/setup/machine_facts.hpp"

namespace keel {
namespace {

// Threads that share processors, and the cure; empty where none do.
std::string oversubscription(int ranks, int threads, int processors) {
    if (ranks * threads <= processors) return "";
    const std::string cure = ranks <= processors
                                 ? fmt::format("set OMP_NUM_THREADS={}", processors / ranks)
                                 : fmt::format("start at most {} on a node", counted(processors, "rank"));
    return fmt::format(
        "{} x {} on {}: they take turns, so times by operation are those of a rank while it ran or waited "
        "for "
        "its turn, and bandwidths add up ranks that did not run at once; {}",
        counted(ranks, "rank"), counted(threads, "thread"), counted(processors, "processor"), cure);
}

}  // namespace

RunFacts facts_of(const Resolved& resolved, const Communicator& comm, const Backend& backend) {
    RunFacts facts;
    facts.ranks = comm.size();
    facts.threads = backend.threads();
    facts.backend = backend.description();
    facts.devices = comm.gather(backend.device());
    facts.mpi = Session::library();
    facts.asynchronous_progress = Session::asynchronous_progress();
    facts.topology = resolved.topology;
    if (!facts.devices.empty())
        facts.device_sharing = most_ranks_per_device(facts.devices, resolved.detected);
    if (!backend.device().empty())
        facts.device_messages = resolved.comm.exchange.wire == Wire::direct ? "from the device's memory"
                                                                            : "staged through host memory";
    const int on_node = most_ranks_per_node(resolved.detected);
    const auto fewest = static_cast<int>(comm.min(processors()));
    const auto threads = static_cast<int>(comm.max(facts.threads));
    facts.shared_cores = on_node * threads > fewest;
    facts.bindings = comm.gather(cpu_binding());

    if (const std::string shared = oversubscription(on_node, threads, fewest); !shared.empty())
        facts.warnings.push_back(shared);
    if (facts.device_sharing > 1)
        facts.warnings.push_back(
            fmt::format("up to {} ranks share a device: they take turns on it", facts.device_sharing));
    if (resolved.launches != Launches::synchronous)
        facts.warnings.push_back(
            "run.launches is not synchronous: the device runs behind the host, so an operation's time is "
            "what "
            "the host spent on it; what the device does shows where the host waits");
    for (const std::string& warning : facts.topology.warnings()) facts.warnings.push_back(warning);
    facts.warnings.insert(facts.warnings.end(), resolved.warnings.begin(), resolved.warnings.end());
    return facts;
}

}  // namespace keel
