#include "miniapp/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "miniapp/deck.hpp"
#include "miniapp/machine_facts.hpp"
#include "miniapp/memory.hpp"
#include "miniapp/problem.hpp"

namespace keel {
namespace {

// What a ledger's entry and the row "other" have in common, as one rank's row of numbers.
std::vector<double> numbers(const Entry& e) {
    return {static_cast<double>(e.calls),
            e.seconds,
            e.work.bytes,
            e.work.flops,
            static_cast<double>(e.traffic.messages),
            static_cast<double>(e.traffic.bytes),
            static_cast<double>(e.traffic.off_node_messages),
            static_cast<double>(e.traffic.off_node_bytes),
            static_cast<double>(e.words)};
}

// One row from all ranks' numbers; complete on rank 0. Collective.
TimerRow gather_row(const Communicator& comm, const std::string& op, int level, const Entry& entry,
                    int solves) {
    const std::vector<double> mine = numbers(entry);
    const std::vector<double> all = comm.gather(mine);
    TimerRow row{.op = op, .level = level};
    if (comm.rank() != 0) return row;
    const auto column = [&](std::size_t n) {
        std::vector<double> values;
        for (std::size_t at = n; at < all.size(); at += mine.size()) values.push_back(all[at] / solves);
        return values;
    };
    const auto sum = [&](std::size_t n) {
        const auto values = column(n);
        return std::accumulate(values.begin(), values.end(), 0.0);
    };
    const auto most = [&](std::size_t n) {
        const auto values = column(n);
        return *std::max_element(values.begin(), values.end());
    };
    const auto seconds = column(1);
    const auto slowest = std::max_element(seconds.begin(), seconds.end());
    row.calls = column(0)[0];
    row.t_min = *std::min_element(seconds.begin(), seconds.end());
    row.t_mean = sum(1) / comm.size();
    row.t_max = *slowest;
    row.rank_max = static_cast<int>(slowest - seconds.begin());
    row.bytes_moved = sum(2);
    row.flops = sum(3);
    row.messages = most(4);
    row.bytes = most(5);
    row.off_node_messages = most(6);
    row.off_node_bytes = most(7);
    row.all_messages = sum(4);
    row.all_bytes = sum(5);
    row.all_off_node_messages = sum(6);
    row.all_off_node_bytes = sum(7);
    row.words = column(8)[0];
    return row;
}

std::vector<TimerRow> gather_timers(const Communicator& comm, const Ledger& ledger, double my_seconds,
                                    int solves) {
    std::vector<TimerRow> rows;
    Entry other;  // what no decorator saw: the wall time of the solves less all rows
    other.seconds = my_seconds;
    for (std::size_t op = 0; op < op_count; ++op)
        for (int level = 0; level < ledger.levels(); ++level) {
            const Entry& entry = ledger.at(static_cast<Op>(op), level);
            other.seconds -= entry.seconds;
            rows.push_back(gather_row(comm, name(static_cast<Op>(op)), level, entry, solves));
        }
    rows.push_back(gather_row(comm, "other", 0, other, solves));
    std::erase_if(rows, [](const TimerRow& row) { return row.calls == 0 && row.t_max == 0; });
    return rows;
}

struct CommunicationCounts {
    Reductions reductions;
    long exchanges = 0;
};

CommunicationCounts counts_of(const Hierarchy& hierarchy) {
    CommunicationCounts counts;
    for (int l = 0; l < hierarchy.levels(); ++l) {
        const Level& level = hierarchy.level(l);
        const Reductions here = level.reduction->count();
        counts.reductions.calls += here.calls;
        counts.reductions.words += here.words;
        counts.exchanges += level.ghosts->count();
        if (level.all_ghosts) counts.exchanges += level.all_ghosts->count();
    }
    return counts;
}

}  // namespace

Layout finest_layout(const Parameters& parameters, int ranks, int rank) {
    const Index boxes = resolved_boxes(parameters, ranks);
    return {boxes, parameters.problem.box, parameters.problem.boundary,
            place(boxes, ranks, parameters.problem.placement), rank};
}

Topology topology_of(const Parameters& parameters, const Communicator& comm) {
    return parameters.comm.ranks_per_node > 0 ? virtual_topology(comm.size(), parameters.comm.ranks_per_node)
                                              : detect_topology(comm);
}

std::unique_ptr<Backend> backend_of(const Parameters& parameters, const Communicator& comm) {
    const int local_rank = detect_topology(comm).local_rank(comm.rank());
    return make_backend(parameters.run.backend,
                        {.local_rank = local_rank, .launches = parameters.run.launches});
}

int most_ranks_per_device(const std::vector<std::string>& devices, const Topology& detected) {
    std::map<std::pair<int, std::string>, int> ranks;
    int most = 1;
    for (std::size_t rank = 0; rank < devices.size(); ++rank)
        if (!devices[rank].empty()) most = std::max(most, ++ranks[{detected.node_of[rank], devices[rank]}]);
    return most;
}

HierarchyOptions hierarchy_options(const Parameters& parameters) {
    const bool direct = parameters.comm.device != DeviceMessages::staged &&
                        Session::takes_device_memory(parameters.run.backend);
    return {.bottom_box = parameters.multigrid.bottom_box,
            .ghost_depth = parameters.comm.ghost_depth,
            .neighbours = parameters.comm.neighbours,
            .all_ghosts = parameters.multigrid.cycle == Cycle::f ||
                          parameters.multigrid.interpolation == Interpolation::linear,
            .persistent = parameters.comm.persistent,
            .exchange = {.wire = direct ? Wire::direct : Wire::staged, .overlap = parameters.comm.overlap},
            .deterministic = parameters.run.deterministic,
            .all_reduce = {parameters.comm.allreduce, parameters.comm.progress}};
}

bool Results::valid() const {
    return std::all_of(checks.begin(), checks.end(), [](const Check& check) { return check.passed; });
}

double Results::median_seconds() const {
    std::vector<double> sorted;
    for (const SolveRecord& solve : solves) sorted.push_back(solve.seconds);
    std::sort(sorted.begin(), sorted.end());
    const std::size_t n = sorted.size();
    return n == 0 ? 0 : (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

Results simulate(const Parameters& parameters, const Communicator& comm, const Backend& backend,
                 const std::function<void(const std::string&)>& progress) {
    Results results;
    RunFacts& facts = results.facts;
    const Topology topology = topology_of(parameters, comm);
    const Layout finest = finest_layout(parameters, comm.size(), comm.rank());
    facts.ranks = comm.size();
    facts.threads = backend.threads();
    facts.backend = backend.description();
    facts.devices = comm.gather(backend.device());
    facts.mpi = Session::library();
    facts.asynchronous_progress = Session::asynchronous_progress();
    facts.topology = topology;
    const Topology detected = detect_topology(comm);
    const int on_node = most_ranks_per_node(detected);
    if (!facts.devices.empty()) facts.device_sharing = most_ranks_per_device(facts.devices, detected);
    if (!backend.device().empty())
        facts.device_messages = hierarchy_options(parameters).exchange.wire == Wire::direct
                                    ? "from the device's memory"
                                    : "staged through host memory";
    facts.shared_cores = comm.max(on_node * facts.threads > processors() ? 1 : 0) > 0;
    facts.bindings = comm.gather(cpu_binding());
    facts.boxes = finest.boxes();
    facts.cells = finest.cells();
    facts.array_bytes = comm.max(static_cast<double>(array_bytes(parameters, finest)));
    facts.predicted_bytes = comm.max(static_cast<double>(predicted_bytes(parameters, finest)));

    progress("measuring the triad bandwidth");
    facts.triad_bytes_per_second = measure_triad(comm, topology, backend);

    progress("building the hierarchy");
    reset_peak();
    const std::size_t resident_before = resident_bytes();
    const std::size_t device_before = backend.free_device_bytes();
    const double setup_start = now();
    const Problem problem(parameters.problem, finest);
    const auto widths = level_widths(finest.width(), parameters.multigrid.bottom_box);
    Ledger ledger(static_cast<int>(widths.size()));
    Hierarchy hierarchy(comm, topology, backend, finest, problem.operator_formulas(),
                        hierarchy_options(parameters), ledger);
    Multigrid multigrid(hierarchy, parameters.multigrid, parameters.bottom);
    Level& top = hierarchy.level(0);
    top.plain->assign(top.f, cube(finest.width()), problem.right_side());
    facts.setup_seconds = comm.max(now() - setup_start);
    for (int l = 0; l < hierarchy.levels(); ++l) {
        facts.level_cells.push_back(hierarchy.level(l).layout.cells());
        facts.level_boxes.push_back(hierarchy.level(l).layout.width());
    }

    double my_seconds = 0;
    for (int n = -parameters.run.warmup; n < parameters.run.repeats; ++n) {
        if (n == 0) {
            ledger.clear();
            facts.graph_replays = -static_cast<double>(backend.graph_replays());
        }
        const CommunicationCounts before = counts_of(hierarchy);
        comm.barrier();
        const double start = now();
        SolveRecord solve;
        solve.report = multigrid.solve();
        const double seconds = now() - start;
        const CommunicationCounts after = counts_of(hierarchy);
        solve.seconds = comm.max(seconds);
        solve.reductions = after.reductions.calls - before.reductions.calls;
        solve.reduction_words = after.reductions.words - before.reductions.words;
        solve.exchanges = after.exchanges - before.exchanges;
        progress(fmt::format("{} {}: {} cycles, {:.4g} s", n < 0 ? "warm-up" : "solve", n < 0 ? -n : n + 1,
                             solve.report.cycles, solve.seconds));
        if (n < 0) continue;
        my_seconds += seconds;
        const Ledger solves_only = ledger;
        solve.u_l2 = l2_norm(top, top.u);
        ledger = solves_only;  // the norm's reduction is no part of the solve
        results.solves.push_back(solve);
    }
    facts.graph_replays += static_cast<double>(backend.graph_replays());
    results.timers = gather_timers(comm, ledger, my_seconds, parameters.run.repeats);

    progress("checking");
    results.checks = run_checks(hierarchy, multigrid, problem, parameters.multigrid.tolerance);
    const auto converged = std::count_if(results.solves.begin(), results.solves.end(),
                                         [](const SolveRecord& solve) { return solve.report.converged; });
    const auto solves = static_cast<long>(results.solves.size());
    results.checks.push_back({"solves_converged", converged == solves, static_cast<double>(converged),
                              fmt::format("all of {}", solves)});
    results.figure_of_merit = static_cast<double>(finest.cell_count()) / results.median_seconds();
    const std::size_t peak = peak_resident_bytes();
    const double on_host = static_cast<double>(peak - std::min(peak, resident_before));
    const double on_device =
        static_cast<double>(device_before) - static_cast<double>(backend.free_device_bytes());
    // Of a device only all ranks' memory together is known.
    facts.measured_bytes = comm.max(backend.device().empty() ? on_host : on_device / facts.device_sharing);
    return results;
}

}  // namespace keel
