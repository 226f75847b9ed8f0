#include "miniapp/setup/simulation.hpp"

#include <algorithm>
#include <map>

#include "miniapp/deck/deck.hpp"
#include "miniapp/schemes/scheme_choice.hpp"
#include "miniapp/setup/machine_facts.hpp"
#include "miniapp/setup/memory.hpp"
#include "miniapp/setup/modes.hpp"
#include "miniapp/setup/node_map.hpp"
#include "miniapp/studies/grids/problem.hpp"
#include "miniapp/studies/mode_runs.hpp"

namespace keel {
Layout finest_layout(const Parameters& parameters, int ranks, int rank) {
    const Index boxes = resolved_boxes(parameters, ranks);
    return {boxes, parameters.problem.box, parameters.problem.boundary,
            place(boxes, ranks, parameters.problem.placement), rank};
}

int ranks_of(const Parameters& parameters, const Communicator& comm) {
    return parameters.problem.ranks > 0 ? parameters.problem.ranks : comm.size();
}

Topology topology_of(const Parameters& parameters, const Communicator& comm) {
    if (!parameters.comm.node_map.empty())
        return {read_node_map(parameters.comm.node_map, ranks_of(parameters, comm)).labels, NodeSource::map};
    return parameters.comm.ranks_per_node > 0
               ? virtual_topology(ranks_of(parameters, comm), parameters.comm.ranks_per_node)
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
        if (!devices[rank].empty())
            most = std::max(most, ++ranks[{detected.node(static_cast<int>(rank)), devices[rank]}]);
    return most;
}

HierarchyOptions hierarchy_options(const Parameters& parameters) {
    const bool direct = parameters.comm.device != DeviceMessages::staged &&
                        Session::takes_device_memory(parameters.run.backend);
    const bool fixed = parameters.comm.scheme < SchemeKey::model;
    return {.bottom_box = coarsest_box(parameters),
            .ghost_depth = parameters.comm.ghost_depth,
            .neighbours = parameters.comm.neighbours,
            .all_ghosts = parameters.multigrid.cycle == Cycle::f ||
                          parameters.multigrid.interpolation == Interpolation::linear,
            .bottom_ghosts = powers_need(parameters).layers,
            .bottom_place = bottom_place(parameters),
            .bottom_ranks = parameters.multigrid.bottom_ranks,
            .persistent = parameters.comm.persistent,
            .scheme = {.scheme = fixed ? static_cast<Scheme>(parameters.comm.scheme) : Scheme::standard,
                       .partner_rule = parameters.comm.partner_rule,
                       .message_cap = static_cast<std::size_t>(parameters.comm.message_cap),
                       .cap_rule = parameters.comm.cap_rule,
                       .columns = static_cast<std::size_t>(parameters.problem.columns)},
            .exchange = {.wire = direct ? Wire::direct : Wire::staged, .overlap = parameters.comm.overlap},
            .deterministic = parameters.run.deterministic,
            .all_reduce = {parameters.comm.allreduce, parameters.comm.progress}};
}

bool Results::valid() const {
    return std::all_of(checks.begin(), checks.end(), [](const Check& check) { return check.passed; });
}

double Results::figure_of_merit() const {
    if (const auto* spmv = std::get_if<SpmvResults>(&of_mode)) return spmv->products_per_second();
    return seconds > 0 ? static_cast<double>(product(facts.cells)) / seconds : 0.0;
}

namespace {

// Bytes of memory taken since it was made, at their peak on the host.
class MemoryGrowth {
  public:
    explicit MemoryGrowth(const Backend& backend)
        : backend_(backend), free_on_device_(static_cast<double>(backend.free_device_bytes())) {
        reset_peak();
        resident_ = resident_bytes();
    }
    double on_host() const {
        const std::size_t peak = peak_resident_bytes();
        return static_cast<double>(peak - std::min(peak, resident_));
    }
    // Of a device only all ranks' memory together is known.
    double on_device() const { return free_on_device_ - static_cast<double>(backend_.free_device_bytes()); }

  private:
    const Backend& backend_;
    double free_on_device_;
    std::size_t resident_ = 0;
};

}  // namespace

Results simulate(const Parameters& parameters, const Communicator& comm, const Backend& backend,
                 const Progress& progress) {
    Results results;
    RunFacts& facts = results.facts;
    const Topology topology = topology_of(parameters, comm);
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
    if (parameters.run.mode == Mode::network) {
        results.of_mode = measure_network(parameters, comm, topology, progress);
        return results;
    }
    if (parameters.run.mode == Mode::spmv) {
        progress("measuring the triad bandwidth");
        facts.triad_bytes_per_second = measure_triad(comm, topology, backend);
        const MemoryGrowth growth(backend);
        run_spmv(parameters, comm, topology, backend, progress, results);
        facts.measured_bytes = comm.max(growth.on_host() + growth.on_device() / facts.device_sharing);
        return results;
    }
    const Layout finest = finest_layout(parameters, comm.size(), comm.rank());
    facts.boxes = finest.boxes();
    facts.cells = finest.cells();
    facts.array_bytes = comm.max(static_cast<double>(array_bytes(parameters, finest)));

    progress("measuring the triad bandwidth");
    facts.triad_bytes_per_second = measure_triad(comm, topology, backend);

    if (schemes_matter(parameters, topology)) {
        progress("comparing communication schemes");
        facts.schemes = compare_schemes(parameters, comm, finest, topology);
    }
    if (tries_schemes(parameters)) {
        const Tried tried = time_schemes(parameters, comm,
                                         trial_of_grids(parameters, comm, backend, topology), facts.schemes);
        facts.tuning_seconds = tried.seconds;
        results.checks.push_back(tried.check);
    }
    if (parameters.run.mode == Mode::exchange) {
        for (const SchemeTable& table : facts.schemes)
            if (table.use.purpose == Purpose::stencil) {
                facts.level_cells.push_back(table.use.layout.cells());
                facts.level_boxes.push_back(table.use.layout.width());
            }
        results.of_mode = ExchangeResults{};
        return results;
    }
    choose_schemes(parameters, comm, facts.schemes);
    HierarchyOptions options = hierarchy_options(parameters);
    options.schemes = schemes_by_level(facts.schemes);
    facts.predicted_bytes =
        comm.max(static_cast<double>(predicted_bytes(parameters, finest, topology, options.schemes)));

    progress("building the hierarchy");
    const MemoryGrowth growth(backend);
    const double setup_start = now();
    const Problem problem(parameters.problem, finest);
    Ledger ledger(static_cast<int>(level_widths(finest.width(), options.bottom_box).size()));
    Hierarchy hierarchy(comm, topology, backend, finest, problem.operator_formulas(), options, ledger);
    Level& top = hierarchy.level(0);
    top.plain->assign(top.f, cube(finest.width()), problem.right_side());
    for (int l = 0; l < hierarchy.levels(); ++l) {
        facts.level_cells.push_back(hierarchy.level(l).layout.cells());
        facts.level_boxes.push_back(hierarchy.level(l).layout.width());
    }
    const Setting setting{parameters, comm, backend, problem, hierarchy, ledger, progress, setup_start};
    switch (parameters.run.mode) {
        case Mode::solve:
            run_solve(setting, results);
            break;
        case Mode::krylov:
            run_krylov(setting, results);
            break;
        case Mode::survey:
            run_survey(setting, results);
            break;
        case Mode::network:
        case Mode::exchange:
        case Mode::spmv:
            break;  // has left before
    }
    facts.measured_bytes =
        comm.max(backend.device().empty() ? growth.on_host() : growth.on_device() / facts.device_sharing);
    return results;
}

}  // namespace keel
