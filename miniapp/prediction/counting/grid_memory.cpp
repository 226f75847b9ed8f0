#include "miniapp/prediction/counting/grid_memory.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "miniapp/deck/text/text.hpp"
#include "miniapp/prediction/counting/counted_grid.hpp"
#include "miniapp/prediction/counting/grid_solver.hpp"
#include "solvers/krylov/methods.hpp"
#include "solvers/multigrid/bottom/level_krylov.hpp"

namespace keel {
namespace {

// The bytes of algebraic multigrid on a level that is solved on, by those that an entry of the finest matrix
// takes on all levels, vectors and set-up included. Right to a fifteenth (measured with Open MPI 4.1 and
// run.triad_mb = 1, 2 ranks of 32^3, 48^3, 192^2 and 384^2 cells). Classical coarsening keeps wider rows.
double bytes_of_algebraic(const GridSetup& grids, const Layout& layout) {
    const auto dimensions = static_cast<double>(layout.dimensions());
    const double of_entry = grids.multigrid.amg.aggregates() ? 90 : layout.dimensions() < 3 ? 115 : 155;
    return static_cast<double>(layout.local_cells()) * (2 * dimensions + 1) * of_entry;
}

// Its set-up needs a matrix. A Krylov method that it preconditions, or repeats, makes its vectors without.
struct UncountedCycle : Preconditioner {
    void multiply(Vector, Vector) override {}
};

// The vectors of solvers by algebraic multigrid, and Multigrid's correction. Returns an estimate of the rest,
// and leaves relaxation in place of these solvers.
double make_algebraic(Hierarchy& hierarchy, GridSetup& grids) {
    Level* const level = hierarchy.has(hierarchy.levels() - 1) ? &hierarchy.bottom() : nullptr;
    double bytes = 0;
    UncountedCycle cycle;
    for (auto& [name, options] : grids.use.solvers) {
        if (!uses_algebraic(options)) continue;
        if (level != nullptr) {
            bytes += bytes_of_algebraic(grids, level->layout);
            level->bottom_operations.make_field();
            BottomOptions unscaled = options;
            unscaled.scaling = Scaling::none;
            if (!method_named(options.solver).tests(options.norm)) unscaled.norm = Norm::residual;
            make_krylov(*level, hierarchy.singular(), unscaled, &cycle);
        }
        options.solver = relaxation().name;
        options.preconditioner = PreconditionerKind::none;
    }
    return bytes;
}

// Fields that are exchanged, one level after the other. Each scheme has buffers of its own, and its
// ghosts are compared with those of the first: both are read, by way of a copy.
GridMemory memory_of_fields(const GridSetup& grids, int fields, int threads) {
    CountedMemory memory;
    const auto backend = make_counting_backend(memory, threads);
    for (const LevelDistribution& place : grids.places(grids.finest())) {
        if (!place.here()) continue;
        const auto operations = backend->make_operations(place.layout, 1);
        for (int n = 0; n < fields; ++n) operations->make_field();
    }
    const auto arrays = static_cast<double>(memory.cells);
    const auto bytes = static_cast<double>(memory.bytes());
    return {arrays, 4 * bytes + 2 * static_cast<double>(planners().size()) * (bytes - arrays)};
}

}  // namespace

void make_all_solvers(Hierarchy& hierarchy, const GridSetup& grids) {
    for (const NamedSolver& named : grids.use.solvers) {
        GridSolver solver(hierarchy, grids, named);
        for (int l = 0; l < hierarchy.levels() && hierarchy.has(l) && grids.solves_on(l); ++l)
            solver.solve(l);
    }
}

GridMemory memory_of_grids(const GridSetup& grids, const Topology& topology,
                           const std::vector<LevelSchemes>& schemes, const MakeSolvers& make, int threads) {
    if (const auto fields = grids.use.exchanged_fields) return memory_of_fields(grids, *fields, threads);
    CountedGrid counted(grids, topology, schemes, threads);
    GridSetup others = grids;
    const double algebraic = make_algebraic(counted.hierarchy(), others);
    make(counted.hierarchy(), others);
    return {static_cast<double>(counted.memory().cells),
            counted.bytes() + algebraic + grids.use.more_bytes / grids.ranks};
}

GridMemory memory_of_box(GridSetup grids, int width, const MakeSolvers& make) {
    grids.domain = Domain({1, 1, 1}, grids.domain.boundaries(), static_cast<int>(grids.domain.dimensions()));
    grids.problem.box = width;
    grids.ranks = 1;
    grids.rank = 0;
    grids.hierarchy.bottom_box = std::min(grids.hierarchy.bottom_box, width);
    grids.hierarchy.agglomerate = grids.hierarchy.agglomerate_as = 0;
    grids.hierarchy.bottom_ghosts = powers_need(grids.use, grids.shapes().back().width).layers;
    grids.hierarchy.scheme = {};
    grids.hierarchy.all_reduce = {};
    return memory_of_grids(grids, virtual_topology(1, 1), {}, make);
}

std::optional<std::string> exceeds_memory(const GridSetup& grids, const SharedMemory& memory,
                                          const MakeSolvers& make, double of_rank) {
    const Index& boxes = grids.domain.around();
    const int box = grids.problem.box;
    const int bottom_box = grids.hierarchy.bottom_box;
    // The node that holds most of a bottom grid that is elsewhere has this number of copies of its level.
    const int place = grids.hierarchy.bottom_grid;
    const double copies = place == BottomRanks::all ? memory.sharing : place == BottomRanks::one ? 1 : 0;
    const auto no_solvers = [](Hierarchy&, const GridSetup&) {};
    const auto needed_with = [&](int width) {
        const double all = memory_of_box(grids, width, make).arrays;
        const double bottom = copies > 0 ? memory_of_box(grids, bottom_box, no_solvers).arrays : 0.0;
        // Merged levels have few cells a rank.
        return grids.domain.count() * ((all - bottom) / grids.ranks * memory.sharing + copies * bottom);
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
