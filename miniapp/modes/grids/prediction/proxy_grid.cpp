#include "miniapp/modes/grids/prediction/proxy_grid.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "miniapp/deck/text/text.hpp"
#include "solvers/krylov/methods.hpp"

namespace keel {
namespace {

// The same levels as those of all virtual ranks, on other boxes and ranks. Messages travel as they come:
// their costs elsewhere are the plans' matter.
GridSetup with_boxes(GridSetup grids, const ProxyBoxes& boxes, int ranks, int rank = 0) {
    grids.hierarchy.agglomerate_as = grids.ranks;
    grids.problem.box = boxes.box;
    grids.problem.boxes = boxes.domain.around();
    grids.problem.boundary = boxes.domain.boundaries();
    // Files have the values of their own grid.
    if (grids.problem.rhs == Rhs::file) grids.problem.rhs = Rhs::random;
    if (grids.problem.data == BoundaryData::file) grids.problem.data = BoundaryData::wave;
    grids.domain = boxes.domain;
    grids.ranks = ranks;
    grids.rank = rank;
    grids.hierarchy.scheme = {};
    grids.hierarchy.exchange = {};
    grids.hierarchy.all_reduce = {};
    return grids;
}

}  // namespace

ProxyBoxes side_by_side(const GridSetup& grids, const Index& boxes, int box) {
    Boundaries sides = grids.domain.boundaries();
    const Boundary kind = grids.domain.has_dirichlet() ? Boundary::dirichlet : Boundary::neumann;
    if (!grids.domain.whole()) sides.fill({kind, kind});
    return {Domain(boxes, sides, static_cast<int>(grids.domain.dimensions())), box};
}

// The counts are those of every backend; the first one computes on the host.
ProxyGrid::ProxyGrid(const GridSetup& grids, const ProxyBoxes& boxes, const Communicator& comm)
    : grids_(with_boxes(grids, boxes, comm.size(), comm.rank())),
      backend_(make_backend(all_backends().front().name)),
      finest_(grids_.finest()),
      problem_(grids_.problem, finest_),
      ledger_(grids_.levels()),
      hierarchy_(comm, detect_topology(comm), *backend_, finest_, problem_.operator_formulas(),
                 grids_.hierarchy, ledger_) {
    if (comm.rank() == 0) tape_.record(hierarchy_);
    set_right_side(hierarchy_.level(0), problem_);
}

std::string ProxyGrid::text() const {
    const Index& boxes = grids_.problem.boxes;
    return fmt::format("{}{} boxes of {}^{} in {} on {}",
                       grids_.domain.whole() ? "" : fmt::format("{} of ", grids_.domain.count()),
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

ProxySolve ProxyGrid::solve(const NamedSolver& solver) {
    record();
    ProxySolve solve{GridSolver(hierarchy_, grids_, solver).solve(), {}};
    solve.tape = tape_;
    if (!first_cycles_) first_cycles_ = solve.cycles;
    return solve;
}

SolveSize size_of_proxy_solve(const GridSetup& grids, const ProxyBoxes& on, int ranks,
                              const MakeSolvers& make) {
    const auto& [domain, box] = on;
    const auto dimensions = static_cast<double>(grids.domain.dimensions());
    const bool on_finest = grids.use.krylov == KrylovLevel::finest;
    const LevelShape last = with_boxes(grids, on, ranks).shapes().back();
    const Index& of_krylov = on_finest ? domain.around() : last.boxes;
    const int width = on_finest ? box : last.width;
    const auto boxes = static_cast<double>(domain.count());
    const double krylov_boxes = domain.whole() ? static_cast<double>(product(of_krylov)) : boxes;
    const auto cells = [&](double count, int across) { return count / ranks * std::pow(across, dimensions); };
    return {.dimensions = dimensions,
            .cells = cells(boxes, box),
            .bytes = memory_of_box(grids, box, make).bytes * boxes / ranks,
            .krylov_cells = cells(krylov_boxes, width),
            .krylov_across = 1.0 * std::ranges::max(of_krylov) * width};
}

DryRunCost cost_of_proxy_solve(const GridSetup& grids, const ProxyBoxes& boxes, int ranks,
                               const NamedSolver& solver) {
    GridSetup with_solver = grids;
    with_solver.use.solvers = {solver};
    SolveSize size = size_of_proxy_solve(with_solver, boxes, ranks, make_all_solvers);
    const BottomOptions& options = solver.options;
    const Method& method = method_named(options.solver);
    size.applications = method.is_krylov() ? method.applications.of(options) : 2;
    const double visit = method.is_krylov() ? iterations_at_most(size.krylov_across, options.tolerance,
                                                                 size.applications, options.max_iterations)
                                            : options.sweeps;
    const bool on_finest = grids.use.krylov == KrylovLevel::finest;
    const bool of_cycles = grids.use.preconditioner == PreconditionerKind::v_cycle;
    constexpr double cycles = 7;
    size.cycles = !on_finest ? cycles : of_cycles ? visit : 1;
    size.iterations = (on_finest ? 1 : cycles) * visit;
    return cost_of_solve(size);
}

std::string why_not_predicted(const GridSetup& grids) {
    const auto is_algebraic = [](const NamedSolver& solver) { return uses_algebraic(solver.options); };
    if (!grids.use.solvers.empty() && std::ranges::all_of(grids.use.solvers, is_algebraic))
        return " where algebraic multigrid solves on the bottom level, whose levels no dry run plans; "
               "choose another bottom.solver";
    return "";
}

std::string why_not_solved(const DryRunCost& cost, const std::string& remedy, const SharedMemory& memory) {
    const std::string exceeded = memory.limit().exceeded_by(cost, remedy);
    return exceeded.empty() ? "" : ", iterations not known: with the solves that count them " + exceeded;
}

}  // namespace keel
