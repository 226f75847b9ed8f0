#include "miniapp/modes/grids/prediction/proxy_grid.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "miniapp/deck/text/text.hpp"
#include "solvers/krylov/methods.hpp"
#include "solvers/multigrid/bottom/level_krylov.hpp"
#include "solvers/multigrid/multigrid.hpp"

namespace keel {
namespace {

// Messages travel as they come: what they cost elsewhere is the plans' matter.
GridSetup with_boxes(GridSetup grids, const ProxyBoxes& boxes, const Communicator& comm) {
    // The same levels as those of all virtual ranks.
    grids.hierarchy.agglomerate_as = grids.ranks;
    grids.problem.box = boxes.box;
    grids.problem.boxes = boxes.boxes;
    grids.domain = Domain(boxes.boxes, grids.problem.boundary, grids.problem.dimensions);
    grids.ranks = comm.size();
    grids.rank = comm.rank();
    grids.hierarchy.scheme = {};
    grids.hierarchy.exchange = {};
    grids.hierarchy.all_reduce = {};
    return grids;
}

}  // namespace

// The counts are those of every backend; the first one computes on the host.
ProxyGrid::ProxyGrid(const GridSetup& grids, const ProxyBoxes& boxes, const Communicator& comm)
    : grids_(with_boxes(grids, boxes, comm)),
      backend_(make_backend(all_backends().front().name)),
      finest_(grids_.finest()),
      problem_(grids_.problem, finest_),
      ledger_(grids_.levels()),
      hierarchy_(comm, detect_topology(comm), *backend_, finest_, problem_.operator_formulas(),
                 grids_.hierarchy, ledger_),
      recorder_(hierarchy_, ledger_) {
    set_right_side(hierarchy_.level(0), problem_);
}

Slice ProxyGrid::slice_of(const GridSetup& grids, const Trace& trace, int first, int as) const {
    Slice slice{.trace = &trace, .first = first, .last = grids_.levels() - 1, .shift = as - first};
    slice.shares.clear();
    const std::vector<LevelShape> levels = grids.shapes();
    for (int l = 0; l <= slice.last; ++l) {
        const int level = std::clamp(l + slice.shift, 0, static_cast<int>(levels.size()) - 1);
        const LevelShape& shape = levels[static_cast<std::size_t>(level)];
        const auto boxes = static_cast<double>(product(shape.boxes));
        const double most = std::ceil(boxes / shape.ranks);
        const auto here = static_cast<double>(hierarchy_.level(l).layout.local_count());
        slice.shares.push_back({most / here, boxes / most, shape.merged > 1});
    }
    return slice;
}

std::string ProxyGrid::text() const {
    const Index& boxes = grids_.problem.boxes;
    return fmt::format("{} boxes of {}^{} in {} on {}",
                       fmt::join(boxes.begin(), boxes.begin() + grids_.problem.dimensions, "x"),
                       grids_.problem.box, grids_.problem.dimensions, counted(grids_.levels(), "level"),
                       counted(grids_.ranks, "rank"));
}

Json ProxyGrid::json(int cycles) const {
    return {{"boxes", grids_.problem.boxes},
            {"box", grids_.problem.box},
            {"levels", grids_.levels()},
            {"ranks", grids_.ranks},
            {"cycles", cycles}};
}

ProxySolve ProxyGrid::solve_on_finest(const NamedSolver& solver) {
    Level& top = hierarchy_.level(0);
    const auto M =
        make_preconditioner(hierarchy_, grids_.use.preconditioner, grids_.multigrid, solver.options.sweeps);
    const auto krylov = make_krylov(top, hierarchy_.singular(), solver.options, M.get());
    recorder_.take();  // what was before
    const Report report = krylov->solve(top.u, top.f);
    if (hierarchy_.singular()) remove_mean(top.bottom_operations, *top.reduction, top.u);
    const bool of_cycles = grids_.use.preconditioner == PreconditionerKind::v_cycle;
    const int v_cycles = of_cycles ? static_cast<int>(M->applications()) : 0;
    return {recorder_.take(), v_cycles, 1, report.iterations, report.succeeded(), name(report.outcome)};
}

ProxySolve ProxyGrid::solve(const NamedSolver& solver) {
    const auto solve_by_multigrid = [&]() -> ProxySolve {
        Multigrid multigrid(hierarchy_, grids_.multigrid, solver.options);
        recorder_.take();
        const SolveReport report = multigrid.solve();
        return {recorder_.take(),           report.cycles,      static_cast<int>(report.visits.size()),
                report.bottom_iterations(), report.converged(), name(report.outcome)};
    };
    ProxySolve solve =
        grids_.use.krylov == KrylovLevel::finest ? solve_on_finest(solver) : solve_by_multigrid();
    if (!first_cycles_) first_cycles_ = solve.cycles;
    return solve;
}

DryRunCost cost_of_proxy_solves(const GridSetup& grids, const ProxyBoxes& on, int ranks,
                                std::span<const NamedSolver> solvers) {
    const auto& [boxes, box] = on;
    GridSetup here = grids;
    here.hierarchy.agglomerate_as = grids.ranks;
    here.problem.box = box;
    here.domain = Domain(boxes, grids.problem.boundary, grids.problem.dimensions);
    const auto dimensions = static_cast<double>(grids.domain.dimensions());
    const bool on_finest = grids.use.krylov == KrylovLevel::finest;
    const LevelShape last = here.shapes().back();
    const Index& of_krylov = on_finest ? boxes : last.boxes;
    const int width = on_finest ? box : last.width;
    const auto cells = [&](const Index& count, int across) {
        return static_cast<double>(product(count)) / ranks * std::pow(across, dimensions);
    };
    SolveSize size{
        .dimensions = dimensions, .cells = cells(boxes, box), .krylov_cells = cells(of_krylov, width)};
    const int fields = grids.fields_of_level + grids.fields_of_iteration + grids.fields_on_finest;
    const auto many = static_cast<double>(std::max<std::size_t>(solvers.size(), 1));
    size.bytes = sizeof(double) * (1.15 * fields * cells(boxes, box + 2) +
                                   grids.fields_on_coarsest / many * cells(of_krylov, width + 2));
    constexpr double cycles = 7;
    DryRunCost cost;
    for (const auto& [name, options] : solvers) {
        const Method& method = method_named(options.solver);
        size.applications = method.is_krylov() ? method.applications.of(options) : 2;
        const double visit = method.is_krylov()
                                 ? iterations_at_most(std::ranges::max(of_krylov) * width, options.tolerance,
                                                      size.applications, options.max_iterations)
                                 : options.sweeps;
        const bool of_cycles = grids.use.preconditioner == PreconditionerKind::v_cycle;
        size.cycles = !on_finest ? cycles : of_cycles ? visit : 1;
        size.iterations = (on_finest ? 1 : cycles) * visit;
        cost += cost_of_solve(size);
    }
    return cost;
}

}  // namespace keel
