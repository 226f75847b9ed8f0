#include "miniapp/setup/machine/memory.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>

#include "comm/plans/rank_schedule.hpp"
#include "comm/plans/schemes.hpp"
#include "miniapp/deck/text/text.hpp"
#include "miniapp/setup/machine/control_groups.hpp"
#include "solvers/krylov/methods.hpp"

namespace keel {
namespace {

// A level on a rank, and its grid-sized arrays.
struct Held {
    LevelPlan plan;
    int fields = 0;
    std::vector<int> ranks;  // among which ghosts travel, as the finest level numbers them
    bool solved_on = false;  // the coarsest level, where its solvers work on it
};

std::vector<Held> held_by(const GridSetup& grids, const Layout& finest) {
    const std::vector<LevelDistribution> places = grids.places(finest);
    const int last = static_cast<int>(places.size()) - 1;
    const bool solved_elsewhere = grids.moves_bottom() && grids.use.krylov != KrylovLevel::none;
    std::vector<Held> all;
    const auto add = [&](const LevelPlan& plan, int fields, const std::vector<int>& ranks) -> Held* {
        if (plan.layout.rank() < 0) return nullptr;
        return &all.emplace_back(Held{plan, plan.passes_on ? Level::fields_passed_on : fields, ranks});
    };
    for (int l = 0; l <= last; ++l) {
        const auto n = static_cast<std::size_t>(l);
        const LevelPlans plans = plans_of_level(places, l, Precision::fp64, grids.hierarchy);
        if (plans.before) add(*plans.before, 0, places[n - 1].ranks);
        if (Held* const level = add(plans.level, grids.fields_of_level, places[n].ranks)) {
            if (grids.solves_on(l) && l < last) level->fields += grids.fields_of_iteration;
            if (l == 0) level->fields += grids.fields_on_finest;
            level->solved_on = l == last && !solved_elsewhere;
            if (level->solved_on) level->fields += grids.fields_on_coarsest;
        }
        if (!grids.hierarchy.mixed) continue;
        const LevelPlans single = plans_of_level(places, l, Precision::fp32, grids.hierarchy);
        if (single.before) add(*single.before, 0, places[n - 1].ranks);
        add(single.level, grids.fields_of_level, places[n].ranks);
    }
    if (!solved_elsewhere) return all;
    const Agglomeration moved = consolidated(places.back().layout, grids.hierarchy.bottom_grid);
    if (Held* const solved = add(plan_of_consolidated(moved, last, grids.hierarchy),
                                 grids.fields_of_level + grids.fields_on_coarsest, moved.ranks))
        solved->solved_on = true;
    return all;
}

// Plan, schedule and MPI keep so much of a message besides its values: 1.4 to 1.8 kB, measured with Open MPI
// 4.1.
constexpr std::size_t bytes_of_message = 1600;

// In doubles: the buffers of a rank's part of a plan, once for each of `fields`, and its lists; without
// fields the latter alone.
std::size_t buffer_values(const Plan& plan, int rank, std::size_t fields = 1,
                          Precision precision = Precision::fp64) {
    const RankSchedule schedule(plan, rank);
    std::size_t bytes = 0;
    const auto add = [&](const MessageEnd& message) {
        bytes += bytes_of_message +
                 message.items.size() * (2 * sizeof(Item) + (message.relayed ? sizeof(BlockCopy) : 0));
    };
    for (const MessageEnd& message : schedule.receives) add(message);
    for (const SendStage& stage : schedule.stages)
        for (const MessageEnd& message : stage.sends) add(message);
    bytes += bytes_of_value(precision) * fields * (schedule.send_values() + schedule.receive_values());
    return bytes / sizeof(double);
}

// The same of the redistribution of a level, its operator first.
std::size_t move_values(const Agglomeration& move, const Topology& topology, const LevelSchemes& schemes,
                        Precision precision = Precision::fp64) {
    const Layout& boxes = move.before;
    const std::size_t bytes = bytes_of_value(precision);
    const auto values = [&](const BoxPattern& pattern, std::size_t of_box, const SchemeOptions& scheme) {
        std::size_t kept = 0;
        for (const int box : pattern.to().boxes_of(boxes.rank()))
            if (pattern.from().holds(boxes.rank(), box)) kept += of_box * bytes / sizeof(double);
        return kept +
               buffer_values(make_plan(pattern, topology, scheme, boxes.rank()), boxes.rank(), 1, precision);
    };
    const std::size_t cells = product(boxes.extent());
    const std::size_t with_faces = product(boxes.extent() + boxes.layers(1));
    const std::size_t of_operator =
        precision == Precision::fp32
            ? 0
            : values(move.gather(static_cast<int>(with_faces)), with_faces, schemes.there);
    return values(move.gather(static_cast<int>(cells)), cells, schemes.there) +
           values(move.scatter(static_cast<int>(cells)), cells, schemes.back) + of_operator;
}

// The bytes of algebraic multigrid on a level that is solved on, by those that an entry of the finest matrix
// takes on all levels, vectors and set-up included. Right to a fifteenth (measured with Open MPI 4.1 and
// run.triad_mb = 1, 2 ranks of 32^3, 48^3, 192^2 and 384^2 cells). Classical coarsening keeps wider rows.
double bytes_of_algebraic(const GridSetup& grids, const Layout& layout) {
    const auto dimensions = static_cast<double>(layout.dimensions());
    const double of_entry = grids.multigrid.amg.aggregates() ? 90 : layout.dimensions() < 3 ? 115 : 155;
    const double entries = static_cast<double>(layout.local_cells()) * (2 * dimensions + 1);
    const auto hierarchies = std::ranges::count_if(
        grids.use.solvers, [](const NamedSolver& solver) { return uses_algebraic(solver.options); });
    return static_cast<double>(hierarchies) * entries * of_entry;
}

}  // namespace

std::size_t predicted_bytes(const GridSetup& grids, const Layout& finest, const Topology& topology,
                            const std::vector<LevelSchemes>& schemes, int threads) {
    HierarchyOptions options = grids.hierarchy;
    options.schemes = schemes;
    std::size_t values = 0;
    double bytes = 0;
    const std::vector<LevelDistribution> places = grids.places(finest);
    if (options.consolidates()) {
        const Layout& bottom = places.back().layout;
        values += move_values(consolidated(bottom, options.bottom_grid), topology,
                              options.schemes_of(grids.levels() - 1));
    }
    for (std::size_t l = 1; l < places.size(); ++l) {
        if (!places[l].agglomeration || !places[l - 1].here()) continue;
        const Agglomeration& moved = *places[l].agglomeration;
        const Topology above = topology.among(places[l - 1].ranks);
        const LevelSchemes chosen = options.schemes_of(static_cast<int>(l));
        values += move_values(moved, above, chosen);
        if (options.mixed) values += move_values(moved, above, chosen, Precision::fp32);
    }
    bytes += grids.use.more_bytes / grids.ranks;
    GridSetup planned = grids;
    planned.hierarchy = options;
    for (const Held& held : held_by(planned, finest)) {
        const LevelPlan& plan = held.plan;
        const Layout& layout = plan.layout;
        const Arrangement stored = arrange(layout, plan.storage, threads);
        values += static_cast<std::size_t>(held.fields) *
                  Shape::of(stored.blocks(), stored.extent, plan.ghost_layers(options), layout.dimensions())
                      .values() *
                  bytes_of_value(plan.precision) / sizeof(double);
        const Topology nodes = held.ranks.size() == static_cast<std::size_t>(topology.ranks())
                                   ? topology
                                   : topology.among(held.ranks);
        const auto buffers = [&](const std::optional<PlannedGhosts>& ghosts, int fields) -> std::size_t {
            if (!ghosts) return 0;
            const Plan messages =
                make_plan(ghost_pattern(layout, ghosts->layers, ghosts->neighbours, ghosts->scheme), nodes,
                          ghosts->scheme, layout.rank());
            const auto lists_and = [&](int of_fields) {
                return buffer_values(messages, layout.rank(), static_cast<std::size_t>(of_fields),
                                     plan.precision);
            };
            return lists_and(fields) + (ghosts->one_colour ? lists_and(0) : 0);
        };
        const bool of_krylov = grids.use.krylov == KrylovLevel::finest
                                   ? plan.number == 0 && plan.precision == Precision::fp64
                                   : held.solved_on;
        if (of_krylov) bytes += bytes_of_algebraic(grids, layout);
        // For one vector in set-up, then for all.
        values +=
            buffers(plan.ghosts, 1 + (of_krylov && grids.vectors_at_once > 1 ? grids.vectors_at_once : 0)) +
            buffers(plan.all_ghosts, 1) +
            buffers(plan.deep_ghosts, 1 + (held.solved_on ? grids.powers.at_once : 0));
    }
    return values * sizeof(double) + static_cast<std::size_t>(bytes);
}

std::size_t array_bytes(const GridSetup& grids, const Layout& finest) {
    std::size_t bytes = 0;
    for (const Held& held : held_by(grids, finest))
        bytes += static_cast<std::size_t>(held.fields) * held.plan.layout.local_cells() *
                 bytes_of_value(held.plan.precision);
    return bytes;
}

namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

// Bytes that a job of Slurm may take on a node: its own limit, or that of a processor times those it has
// there. 0 asks for all the memory.
double limit_of_slurm() {
    const auto megabytes = [](const char* name) {
        const char* const text = std::getenv(name);
        return text ? std::strtod(text, nullptr) : 0.0;
    };
    constexpr double mebibyte = 1024 * 1024;
    if (const double of_node = megabytes("SLURM_MEM_PER_NODE"); of_node > 0) return of_node * mebibyte;
    const double of_processors = megabytes("SLURM_MEM_PER_CPU") * megabytes("SLURM_CPUS_ON_NODE");
    return of_processors > 0 ? of_processors * mebibyte : unlimited;
}

double limit_of_cgroups() {
    double least = unlimited;
    for (const std::filesystem::path& group : control_groups("memory"))
        for (const char* name : {"memory.max", "memory.limit_in_bytes"}) {
            double bytes = 0;  // "max" is no number
            if (std::ifstream(group / name) >> bytes) least = std::min(least, bytes);
        }
    return least;
}

}  // namespace

double memory_of_machine() {
    return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

double memory_of_node() {
    return std::min({memory_of_machine(), limit_of_cgroups(), limit_of_slurm()});
}

SharedMemory memory_of_nodes(const Topology& topology) {
    // All simulated ranks share one machine, and one process.
    SharedMemory memory{memory_of_node(), simulated() ? topology.ranks() : most_ranks_per_node(topology),
                        "node"};
    memory.process = process_limit();
    if (simulated()) memory.process.left /= memory.sharing;
    memory.bytes = std::min(memory.bytes, memory.process.left * memory.sharing);
    return memory;
}

SharedMemory least_of(SharedMemory memory, const Communicator& comm) {
    memory.bytes = comm.min(memory.bytes);
    memory.process.left = comm.min(memory.process.left);
    return memory;
}

SharedMemory memory_of(const Backend& backend, const Topology& detected, const Communicator& comm) {
    const auto devices = comm.gather(backend.device());
    SharedMemory memory = memory_of_nodes(detected);
    if (!backend.device().empty())  // rank 0 knows who shares one
        memory = {static_cast<double>(backend.free_device_bytes()),
                  static_cast<int>(comm.max(most_ranks_per_device(devices, detected))), "device"};
    return least_of(memory, comm);
}

std::optional<std::string> exceeds_memory(const GridSetup& grids, const SharedMemory& memory,
                                          double of_rank) {
    const Index& boxes = grids.domain.around();
    const int box = grids.problem.box;
    const int bottom_box = grids.hierarchy.bottom_box;
    // The node that holds most of a bottom grid that is elsewhere has at least so many copies of it.
    const int place = grids.hierarchy.bottom_grid;
    const double copies = place == BottomRanks::all ? memory.sharing : place == BottomRanks::one ? 1 : 0;
    const auto needed_with = [&](int width) {
        const auto dimensions = static_cast<double>(grids.domain.dimensions());
        const double cells = std::pow(width, dimensions) * grids.domain.count();
        const double coarsening = std::pow(1.0 * std::min(bottom_box, width) / width, dimensions);
        const double in_single = grids.hierarchy.mixed ? 0.5 * grids.fields_of_level * (1 - coarsening) : 0.0;
        const double fields = in_single + grids.fields_of_level + grids.fields_of_iteration +
                              grids.fields_on_finest + coarsening * grids.fields_on_coarsest;
        // Merged levels have few cells a rank.
        return sizeof(double) * cells *
               (fields / grids.ranks * memory.sharing +
                copies * coarsening * (grids.fields_of_level + grids.fields_on_coarsest));
    };
    const double more = std::max(1.0, of_rank * memory.sharing / needed_with(box));
    const double needed = more * needed_with(box);
    if (needed <= memory.bytes) return {};
    // Half as wide a box coarsens as well, down to the coarsest level's.
    const int narrowest = bottom_box < box ? 2 * bottom_box : 1;
    int fits = box;
    do fits = fits % 2 == 0 ? fits / 2 : 0;
    while (fits >= narrowest && more * needed_with(fits) > memory.bytes);
    return fmt::format(
        "problem.box = {}, problem.boxes = [{}]{} on {}: {} {} on a {} of {}; "
        "choose {}fewer boxes, or more {}s",
        box, fmt::join(boxes, ","),
        grids.domain.whole() ? "" : fmt::format(" of which {} are present", grids.domain.count()),
        counted(grids.ranks, "rank"), more > 1 ? "about" : "at least", bytes_text(needed), memory.where,
        bytes_text(memory.bytes), fits >= narrowest ? fmt::format("problem.box = {} or less, ", fits) : "",
        memory.where);
}

}  // namespace keel
