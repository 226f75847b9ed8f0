#include "miniapp/modes/grids/fixed_point/prediction.hpp"

#include <algorithm>
#include <cmath>

#include "miniapp/modes/grids/fixed_point/posed.hpp"
#include "miniapp/modes/grids/prediction/rehearsal.hpp"
#include "solvers/krylov/methods.hpp"

namespace keel {
namespace {

// A grid of so many cells tells iterations well enough, and is solved on in seconds.
constexpr double enough_cells = 1 << 15;

// What stands for the boxes that are meant: all of them, or so many.
struct Grid {
    Index boxes;
    int box = 0;
};

bool is_small(const GridSetup& grids) {
    return static_cast<double>(product(grids.finest().cells())) <= enough_cells;
}

Grid sample_of(const GridSetup& grids, int ranks_here) {
    const auto dimensions = grids.domain.dimensions();
    Index boxes = grids.domain.around();
    if (is_small(grids)) return {boxes, grids.problem.box};
    int side = 1;
    while (std::pow(side + 1, dimensions) * grids.problem.box_cells() <= enough_cells) ++side;
    for (std::size_t d = 0; d < dimensions; ++d) boxes[d] = std::min(boxes[d], side);
    if (product(boxes) < static_cast<std::size_t>(ranks_here)) boxes = most_cubic(ranks_here, dimensions);
    return {boxes, grids.problem.box};
}

// The real bottom and the level above it, if there is one.
Grid bottom_of(const GridSetup& grids) {
    return {grids.domain.around(), std::min(grids.problem.box, 2 * grids.hierarchy.bottom_box)};
}

RehearsedOn told(const Rehearsal& rehearsal, int cycles) {
    const GridSetup& grids = rehearsal.grids();
    return {grids.domain.around(), grids.problem.dimensions,
            grids.problem.box,     grids.levels(),
            grids.ranks,           cycles};
}

struct Iterated {
    Trace trace;
    AndersonReport report;
    long visits = 0;
    long cycles = 0;
    RehearsedOn on;
    double boxes_of_rank = 1;
};

// With a hierarchy of its own, which goes with the vectors that the acceleration has made.
Iterated iterate(const GridSetup& grids, const Grid& grid, const FixedPointOptions& equation,
                 const AndersonOptions& acceleration, const Communicator& comm) {
    Rehearsal rehearsal(grids, grid.boxes, grid.box, comm);
    PosedFixedPoint posed(rehearsal.hierarchy(), rehearsal.grids(), equation);
    Anderson anderson(posed.vectors(), acceleration);
    posed.begin();
    rehearsal.take();  // what was before
    Iterated iterated;
    iterated.report = posed.solve(anderson);
    iterated.trace = rehearsal.take();
    iterated.visits = posed.visits();
    const bool by_cycles = equation.map == MapKind::cycle && !equation.is_mixture();
    iterated.cycles = by_cycles ? iterated.report.evaluations : posed.cycles().value_or(0);
    iterated.on = told(rehearsal, static_cast<int>(iterated.cycles));
    iterated.boxes_of_rank = rehearsal.boxes_of_rank();
    return iterated;
}

// Without acceleration, and by each method, mgs first.
std::vector<std::pair<std::string, AndersonOptions>> ways(const AndersonOptions& acceleration) {
    AndersonOptions picard = acceleration;
    picard.depth = picard.composite = 0;
    std::vector<std::pair<std::string, AndersonOptions>> all{{"picard", picard}};
    if (acceleration.depth == 0) return all;
    for (const std::string& method : orthogonaliser_names()) {
        AndersonOptions by_method = acceleration;
        by_method.orthogonalisation = method;
        all.insert(method == "mgs" ? all.begin() + 1 : all.end(), {method, by_method});
    }
    return all;
}

// Each way takes some tens of evaluations of a cycle.
DryRunCost cost_of_iterations(const GridSetup& grids, const FixedPointOptions& equation,
                              const AndersonOptions& acceleration, int ranks_here) {
    const Grid sample = sample_of(grids, ranks_here);
    const Grid bottom = bottom_of(grids);
    const auto dimensions = static_cast<double>(grids.problem.dimensions);
    const auto size_of = [&](const Grid& grid) {
        const double boxes = static_cast<double>(product(grid.boxes)) / ranks_here;
        const auto cells = [&](int width) { return boxes * std::pow(width, dimensions); };
        const int fields = grids.fields_of_level + grids.use.more_fields;
        return SolveSize{.dimensions = dimensions,
                         .cells = cells(grid.box),
                         .bytes = 1.15 * sizeof(double) * fields * cells(grid.box + 2),
                         .cycles = 30,
                         .krylov_cells = cells(std::min(grid.box, grids.hierarchy.bottom_box))};
    };
    DryRunCost cost;
    if (!grids.use.solvers.empty() && !is_small(grids))
        cost = cost_of_rehearsal(grids, bottom.boxes, bottom.box, ranks_here, grids.use.solvers);
    for (std::size_t way = 0; way < ways(acceleration).size(); ++way) {
        cost += cost_of_solve(size_of(sample));
        if (is_small(grids) || !equation.by_fas()) continue;
        SolveSize on_bottom = size_of(bottom);
        on_bottom.iterations = on_bottom.cycles * grids.use.full_approximation.value_or(1);
        cost += cost_of_solve(on_bottom);
    }
    return cost;
}

}  // namespace

std::string why_not_predicted(const GridSetup& grids, const FixedPointOptions& equation,
                              const AndersonOptions& acceleration, const SharedMemory& memory,
                              int ranks_here) {
    if (grids.moves_bottom())
        return "no seconds are predicted where multigrid.bottom_grid moves the bottom level; choose "
               "distributed";
    if (grids.merges())
        return "no seconds are predicted where multigrid.agglomerate merges boxes: what stands for a solve "
               "has "
               "all levels on all ranks; choose never";
    if (!grids.domain.whole())
        return "no seconds are predicted where boxes are missing: what stands for a solve are boxes side by "
               "side; choose problem.shape = \"cube\"";
    const bool solves_bottom = !grids.use.solvers.empty();
    if (solves_bottom && uses_algebraic(grids.use.solvers.front().options))
        return "no seconds are predicted where algebraic multigrid solves on the bottom level, whose levels "
               "nobody "
               "plans here; choose another bottom.solver";
    if (solves_bottom && !is_small(grids) && grids.levels() == 1)
        return "no seconds are predicted where there is one level: its solver would have to run on all of it "
               "in every evaluation; give a larger problem.box, or a smaller multigrid.bottom_box";
    const std::string exceeded = memory.limit.exceeded_by(
        cost_of_iterations(grids, equation, acceleration, ranks_here), "fewer boxes, a smaller problem.box");
    if (!exceeded.empty())
        return "no seconds are predicted, iterations not known: with the solves that count them " + exceeded;
    GridSetup here = grids;
    here.ranks = ranks_here;
    const auto complaint_of = [&](const Grid& grid, int vectors) {
        here.problem.box = grid.box;
        here.domain = Domain(grid.boxes, grids.problem.boundary, grids.problem.dimensions);
        here.use.more_fields = vectors;
        return exceeds_memory(here, memory);
    };
    auto complaint = complaint_of(sample_of(grids, ranks_here), grids.use.more_fields);
    if (!complaint && !is_small(grids) && (solves_bottom || equation.by_fas()))
        complaint = complaint_of(bottom_of(grids), solves_bottom ? 0 : grids.use.more_fields);
    return complaint ? "no seconds are predicted: an iteration has to stand for it here, and does not fit: " +
                           *complaint
                     : "";
}

FixedPointPrediction predict(const Resolved& resolved, const GridSetup& grids,
                             const FixedPointOptions& equation, const AndersonOptions& acceleration,
                             const std::vector<SchemeTable>& tables, const Communicator& comm) {
    require_known({resolved.machine->machine, Memory::host}, resolved.topology);
    const int last = grids.levels() - 1;
    const bool whole = is_small(grids);
    FixedPointPrediction prediction;
    prediction.planned = tables.front().planned;

    // One solve tells what a visit to the bottom does there.
    std::optional<Rehearsal> bottom;
    Rehearsed visits;
    if (!whole && !grids.use.solvers.empty()) {
        const Grid grid = bottom_of(grids);
        bottom.emplace(grids, grid.boxes, grid.box, comm);
        visits = bottom->solve(grids.use.solvers.front());
        prediction.bottom = told(*bottom, visits.cycles);
    }

    const std::vector<ExchangePlan> plans =
        comm.rank() == 0 ? exchange_plans(grids, resolved.topology, tables, resolved.comm.sampled_nodes)
                         : std::vector<ExchangePlan>();
    const Imagined where{resolved.topology,
                         *resolved.machine,
                         resolved.comm.all_reduce_model,
                         move_of(resolved.comm.all_reduce),
                         {last, last}};
    const double boxes = grids.most_boxes_of_a_rank();
    const double ranks = static_cast<double>(grids.domain.count()) / boxes;
    for (const auto& [name, options] : ways(acceleration)) {
        const Iterated iterated = iterate(grids, sample_of(grids, comm.size()), equation, options, comm);
        // The coarsest level is relaxed, and a large one takes more cycles.
        std::optional<Iterated> on_bottom;
        if (!whole && equation.by_fas())
            on_bottom = iterate(grids, bottom_of(grids), equation, options, comm);
        if (comm.rank() != 0) continue;

        PredictedFixedPoint& row = prediction.rows.emplace_back();
        const AndersonReport& report = iterated.report;
        const AndersonReport& believed = on_bottom ? on_bottom->report : report;
        const double times = 1.0 * believed.iterations / report.iterations;
        row.iterations = believed.iterations;
        row.evaluations = believed.evaluations;
        row.qr_reductions = static_cast<double>(believed.orthogonalisation.reductions);
        row.qr_words = static_cast<double>(believed.orthogonalisation.words);
        row.converged = believed.converged() && report.converged();
        row.outcome = believed.converged() ? report.outcome : believed.outcome;
        row.on = iterated.on;
        row.rehearsed_iterations = report.iterations;
        if (on_bottom) row.iterated_on = on_bottom->on;

        PredictedSolve& solve = row.solve;
        solve.solver = name;
        solve.cycles = times * static_cast<double>(iterated.cycles);
        std::vector<Slice> slices{{.trace = &iterated.trace,
                                   .last = bottom ? last - 1 : last,
                                   .times = times,
                                   .shares = {{boxes / iterated.boxes_of_rank, ranks}}}};
        if (bottom) {
            const double of_visits = static_cast<double>(iterated.visits) / visits.visits;
            solve.iterations = of_visits * static_cast<double>(visits.iterations);
            const int lowest = bottom->grids().levels() - 1;
            slices.push_back({.trace = &visits.trace,
                              .first = lowest,
                              .last = lowest,
                              .shift = last - lowest,
                              .times = of_visits,
                              .shares = {{boxes / bottom->boxes_of_rank(), ranks}}});
        }
        if (row.converged) predict_times(solve, slices, plans, where);
    }
    return prediction;
}

}  // namespace keel
