#include "miniapp/report/facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "comm/ranks/starter.hpp"
#include "miniapp/deck/text/text.hpp"
#include "miniapp/setup/machine/machine_facts.hpp"
#include "miniapp/setup/machine/processors.hpp"

namespace keel {
namespace {

// The warning and the remedy if more threads run than processors, or a quota, allow.
std::string oversubscription(const Crowd& crowd, int on_node) {
    const std::string who =
        fmt::format("{} x {}", counted(crowd.ranks, "rank"), counted(crowd.threads / crowd.ranks, "thread"));
    if (crowd.quota)
        return fmt::format(
            "{} on a quota of {:.3g} processors (control group {}): the system stops them for a part of each "
            "period, so times are longer than the work takes; ask for a quota of at least {} (cpu.max, "
            "docker --cpus), or start fewer",
            who, crowd.processors, crowd.where, crowd.threads);
    const auto processors = static_cast<int>(crowd.processors);
    std::string cure = crowd.ranks <= processors
                           ? fmt::format("set OMP_NUM_THREADS={}", processors / crowd.ranks)
                           : fmt::format("start at most {} on {}", counted(processors, "rank"),
                                         processors < on_node ? "these" : "a node");
    if (processors < on_node)
        cure += fmt::format(
            "; they may run on {} {} only, of {}: let them run on more (mpiexec --bind-to, srun --cpu-bind, "
            "taskset, OMP_PLACES)",
            processors == 1 ? "processor" : "processors", crowd.where, on_node);
    return fmt::format(
        "{} on {}: they take turns, so times by operation are those of a rank while it ran or waited "
        "for its turn, and bandwidths add up ranks that did not run at once; {}",
        who, counted(processors, "processor"), cure);
}

// A warning if this run has one rank, but its starter started more tasks; else empty.
std::string alone_among_tasks(const Communicator& comm) {
    if (comm.size() > 1) return "";
    const auto [variable, tasks, starter, remedy] = started_tasks();
    if (tasks <= 1) return "";
    if (starter.empty())
        return fmt::format(
            "{}={}: {} tasks in this job, but this run has 1 rank; start keel with srun or mpiexec", variable,
            tasks, tasks);
    return fmt::format(
        "{}={}, but this run has 1 rank: started by {}, every rank is a run of its own; "
        "{}start keel with the mpiexec of {}",
        variable, tasks, starter, remedy, Session::library());
}

// Adds the processors of the ranks, and a warning if ranks are too many for them.
void add_processors(const Resolved& resolved, const Communicator& comm, RunFacts& facts) {
    const UsableProcessors usable = usable_processors(facts.threads);
    const Crowd crowd = most_crowded(usable, usable_on_node(comm, resolved.detected, usable));
    const double worst = comm.max(crowd.crowding());
    const int on_node = static_cast<int>(comm.min(processors()));
    facts.bindings = comm.gather(text_of(usable.all()));
    facts.shared_cores = worst > 1;
    if (!facts.shared_cores) return;
    const auto all = comm.gather(crowd.crowding() == worst ? oversubscription(crowd, on_node) : "");
    const auto first = std::ranges::find_if(all, [](const std::string& text) { return !text.empty(); });
    if (first != all.end()) facts.warnings.push_back(*first);
}

// Adds the hardware of rank 0's node, and the number of nodes that differ from it.
void add_hardware(const Resolved& resolved, const Communicator& comm, RunFacts& facts) {
    const bool first_of_node = resolved.detected.local_rank(comm.rank()) == 0;
    if (first_of_node) facts.hardware = hardware_of();
    for (const std::string& text : comm.gather(first_of_node ? text_of(*facts.hardware) : ""))
        if (!text.empty() && text != text_of(*facts.hardware)) ++facts.other_nodes;
}

}  // namespace

RunFacts facts_of(const Resolved& resolved, const Communicator& comm, const Backend& backend) {
    RunFacts facts;
    facts.simulation = resolved.simulation;
    facts.ranks = comm.size();
    facts.threads = backend.threads();
    facts.backend = backend.description();
    facts.devices = comm.gather(backend.device());
    facts.mpi = Session::library();
    facts.asynchronous_progress = Session::asynchronous_progress();
    facts.topology = resolved.topology;
    const double device_rate = comm.max(backend.device_bytes_per_second());
    if (!facts.devices.empty()) {
        facts.device_sharing = most_ranks_per_device(facts.devices, resolved.detected);
        const std::vector<int> before = ranks_before_on_device(facts.devices, resolved.detected);
        for (std::size_t rank = 0; rank < before.size(); ++rank)
            if (before[rank] == 0 && !facts.devices[rank].empty()) ++facts.devices_in_use;
        facts.device_bytes_per_second = facts.devices_in_use * device_rate;
    }
    if (!backend.device().empty())
        facts.device_messages = resolved.comm.exchange.wire == Wire::direct ? "from the device's memory"
                                                                            : "staged through host memory";
    if (const std::string alone = alone_among_tasks(comm); !alone.empty()) facts.warnings.push_back(alone);
    if (const std::string half = Session::progress_warning(); !half.empty()) facts.warnings.push_back(half);
    if (!simulated()) {
        add_processors(resolved, comm, facts);
        add_hardware(resolved, comm, facts);
    }
    std::map<std::string, int> hosts;
    for (const std::string& name : comm.gather(host_name())) ++hosts[name];
    facts.hosts.assign(hosts.begin(), hosts.end());

    if (facts.device_sharing > 1)
        facts.warnings.push_back(
            fmt::format("up to {} ranks share a device: they take turns on it", facts.device_sharing));
    if (resolved.gpu_sync != GpuSync::per_operation)
        facts.warnings.push_back(
            "run.gpu_sync is not per_operation: the device runs behind the host, so an operation's time is "
            "what the host spent on it; what the device does shows where the host waits");
    for (const std::string& warning : facts.topology.warnings()) facts.warnings.push_back(warning);
    facts.warnings.insert(facts.warnings.end(), resolved.warnings.begin(), resolved.warnings.end());
    return facts;
}

std::string agglomeration_text(const std::vector<LevelShape>& levels, std::size_t dimensions) {
    std::string text;
    for (std::size_t l = 1; l < levels.size(); ++l) {
        const auto& [boxes, width, merged, ranks] = levels[l];
        if (merged > 1)
            text += fmt::format("agglomerated level {}: {:.0f} x {}^{} -> 1 x {}^{}, on {} of {}\n", l,
                                std::pow(merged, static_cast<double>(dimensions)), width / merged, dimensions,
                                width, dimensions, ranks, counted(levels[l - 1].ranks, "rank"));
        else if (ranks < levels[l - 1].ranks)
            text += fmt::format("consolidated level {}: {} of {}^{} on {} of {}\n", l,
                                counted(static_cast<long>(product(boxes)), "box"), width, dimensions, ranks,
                                counted(levels[l - 1].ranks, "rank"));
    }
    return text;
}

DomainFacts facts_of_domain(const Layout& finest, const std::string& shape) {
    const Domain& domain = finest.domain();
    const auto dimensions = static_cast<long>(domain.dimensions());
    DomainFacts facts{.shape = shape,
                      .whole = domain.whole(),
                      .boxes = domain.count(),
                      .components = static_cast<int>(components_of(domain).size()),
                      .cells = static_cast<long>(finest.cell_count()),
                      .faces = faces_of(domain)};
    BoxFaces& faces = facts.faces;
    for (long* const count :
         {&faces.interior, &faces.outer, &faces.missing, &faces.dirichlet, &faces.neumann})
        *count *= static_cast<long>(finest.box_cells().cells()) / finest.width();
    faces.interior += dimensions * facts.cells / finest.width() * (finest.width() - 1);  // inside boxes
    return facts;
}

}  // namespace keel
