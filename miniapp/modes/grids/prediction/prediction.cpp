#include "miniapp/modes/grids/prediction/prediction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "miniapp/deck/text/text.hpp"
#include "miniapp/modes/grids/prediction/rehearsal.hpp"
#include "miniapp/modes/mode.hpp"
#include "solvers/krylov/methods.hpp"

namespace keel {
namespace {

// What is called the bottom.
LevelRange bottom_of(const GridSetup& grids) {
    if (grids.use.krylov == KrylovLevel::finest) return {0, 0};
    const std::vector<LevelShape> levels = grids.shapes();
    const auto merged =
        std::ranges::find_if(levels, [](const LevelShape& level) { return level.merged > 1; });
    const auto last = static_cast<int>(levels.size()) - 1;
    return {std::min(static_cast<int>(merged - levels.begin()), last), last};
}

// The bottom, which is the real one, and the level above, from which it gets its right-hand sides.
int rehearsed_box(const GridSetup& grids) {
    if (grids.use.krylov == KrylovLevel::finest) return grids.problem.box;
    const int above = std::max(bottom_of(grids).first - 1, 0);
    return grids.shapes()[static_cast<std::size_t>(above)].width;
}

RehearsedOn told(const Rehearsal& rehearsal, int cycles) {
    const GridSetup& grids = rehearsal.grids();
    return {grids.domain.around(), grids.problem.dimensions,
            grids.problem.box,     grids.levels(),
            grids.ranks,           cycles};
}

// Levels of a rehearsal, from `first` on, as those of the grids from another one on.
Slice slice_of(const GridSetup& grids, const Rehearsal& rehearsal, const Trace& trace, int first, int as) {
    Slice slice{.trace = &trace, .first = first, .last = rehearsal.grids().levels() - 1, .shift = as - first};
    slice.shares.clear();
    const std::vector<LevelShape> levels = grids.shapes();
    for (int l = 0; l <= slice.last; ++l) {
        const int level = std::clamp(l + slice.shift, 0, static_cast<int>(levels.size()) - 1);
        const LevelShape& shape = levels[static_cast<std::size_t>(level)];
        const auto boxes = static_cast<double>(product(shape.boxes));
        const double most = std::ceil(boxes / shape.ranks);
        slice.shares.push_back({most / rehearsal.boxes_of_rank(l), boxes / most, shape.merged > 1});
    }
    return slice;
}

// The messages of algebraic multigrid on the bottom level are not planned.
std::vector<NamedSolver> foretold(std::vector<NamedSolver> solvers) {
    std::erase_if(solvers, [](const NamedSolver& solver) { return uses_algebraic(solver.options); });
    return solvers;
}

// Enough for the proportions of a bottom solve whose iterations are known.
Index sampled_boxes(const GridSetup& grids) {
    constexpr int most = 8;
    Index boxes = grids.domain.around();
    for (int& count : boxes) count = std::min(count, most);
    return boxes;
}

// Half as many in each direction, which have fewer iterations in a visit: what does not grow with them shows between the two.
Index fewer_boxes(Index boxes) {
    for (int& count : boxes) count = std::max(count / 2, 1);
    return boxes;
}

// How often a solve does what two others did, so that visits to the bottom and iterations are its own: what a visit costs whatever
// its iterations, and what each of them costs, is then what the two tell. The second plays no part where they tell no difference.
struct Weights {
    double first = 1;
    double second = 0;
};
Weights weights_of(double visits, double iterations, const Rehearsed& first, const Rehearsed* second) {
    const auto i = static_cast<double>(first.iterations);
    const Weights in_proportion{i > 0 ? iterations / i : visits / first.visits, 0};
    if (!second) return in_proportion;
    const auto j = static_cast<double>(second->iterations);
    const double v = first.visits;
    const double w = second->visits;
    const double determinant = v * j - w * i;
    if (std::abs(determinant) < 0.5 * v * w) return in_proportion;  // half an iteration a visit
    return {(visits * j - w * iterations) / determinant, (v * iterations - visits * i) / determinant};
}

// What all solves of predict() take.
DryRunCost cost_of_solves(const GridSetup& grids, int ranks_here) {
    const int box = rehearsed_box(grids);
    const Index sample = sampled_boxes(grids);
    DryRunCost cost;
    for (const NamedSolver& solver : foretold(grids.use.solvers)) {
        const bool given = solver.options.assumed_iterations > 0;
        cost += cost_of_rehearsal(grids, given ? sample : grids.domain.around(), box, ranks_here, {{solver}});
        if (given) cost += cost_of_rehearsal(grids, fewer_boxes(sample), box, ranks_here, {{solver}});
    }
    if (box == grids.problem.box) return cost;
    const Index boxes = most_cubic(ranks_here, grids.domain.dimensions());
    return cost += cost_of_rehearsal(grids, boxes, grids.problem.box, ranks_here,
                                     std::span(grids.use.solvers).first(1));
}

}  // namespace

bool predicts(const Resolved& resolved, const GridSetup& grids) {
    return resolved.machine && resolved.machine->machine.compute && grids.use.krylov != KrylovLevel::none &&
           grids.use.foretold;
}

std::string why_not_predicted(const GridSetup& grids, const SharedMemory& memory, int ranks_here) {
    if (grids.moves_bottom())
        return "no seconds are predicted where multigrid.bottom_grid moves the bottom level; choose "
               "distributed";
    if (!grids.domain.whole())
        return "no seconds are predicted where boxes are missing: what stands for a solve are boxes side by "
               "side; choose "
               "problem.shape = \"cube\"";
    if (foretold(grids.use.solvers).empty())
        return "no seconds are predicted where algebraic multigrid solves on the bottom level, whose levels "
               "nobody "
               "plans here; choose another bottom.solver";
    const auto given = [](const NamedSolver& solver) { return solver.options.assumed_iterations > 0; };
    if (grids.merges() && std::ranges::any_of(foretold(grids.use.solvers), given))
        return "no seconds are predicted of given iterations where multigrid.agglomerate merges boxes: a "
               "small "
               "grid has "
               "fewer such levels; leave bottom.assumed_iterations out";
    const std::string exceeded = memory.limit.exceeded_by(
        cost_of_solves(grids, ranks_here),
        "bottom.assumed_iterations (in a survey \"cg assumed_iterations=269\"), fewer "
        "solvers or boxes, a smaller "
        "problem.box");
    if (!exceeded.empty())
        return "no seconds are predicted, iterations not known: with the solves that count them " + exceeded;
    GridSetup here = grids;
    here.hierarchy.agglomerate_as = grids.ranks;
    here.problem.box = rehearsed_box(grids);
    if (std::ranges::all_of(foretold(grids.use.solvers), given))
        here.domain = Domain(sampled_boxes(grids), grids.problem.boundary, grids.problem.dimensions);
    here.ranks = ranks_here;
    const auto complaint = exceeds_memory(here, memory);
    return complaint ? "no seconds are predicted: a solve has to stand for it here, and does not fit: " +
                           *complaint + "; or give bottom.assumed_iterations"
                     : "";
}

Prediction predict(const Resolved& resolved, const GridSetup& grids, const std::vector<SchemeTable>& tables,
                   const Communicator& comm, Progress& progress) {
    // Sums are of the host, wherever the fields are.
    require_known({resolved.machine->machine, Memory::host}, resolved.topology);
    const int box = rehearsed_box(grids);
    std::optional<Rehearsal> whole, sample, smaller, cycle;
    const std::vector<NamedSolver> solvers = foretold(grids.use.solvers);
    std::vector<Rehearsed> solves;
    std::vector<std::optional<Rehearsed>> smaller_solves;
    Prediction prediction;
    for (const NamedSolver& solver : solvers) {
        progress.say("solving here with " + solver.name, static_cast<int>(solves.size()) + 1,
                     static_cast<int>(solvers.size()));
        std::optional<Rehearsal>& on = solver.options.assumed_iterations > 0 ? sample : whole;
        if (!on) on.emplace(grids, &on == &whole ? grids.domain.around() : sampled_boxes(grids), box, comm);
        solves.push_back(on->solve(solver));
        std::optional<RehearsedOn>& place = &on == &whole ? prediction.bottom : prediction.sample;
        if (!place) place = told(*on, solves.back().cycles);
        smaller_solves.emplace_back();
        const Index few = fewer_boxes(sampled_boxes(grids));
        if (&on == &whole || product(few) < static_cast<std::size_t>(comm.size())) continue;
        if (!smaller) smaller.emplace(grids, few, box, comm);
        smaller_solves.back() = smaller->solve(solver);
        if (!prediction.smaller_sample)
            prediction.smaller_sample = told(*smaller, smaller_solves.back()->cycles);
    }
    progress.say("solving here for the levels above");
    // The levels above, on as many boxes as there are ranks here.
    Rehearsed of_cycle;
    if (box < grids.problem.box) {
        GridSetup unmerged = grids;
        unmerged.hierarchy.agglomerate = 0;
        cycle.emplace(unmerged, most_cubic(comm.size(), grids.domain.dimensions()), grids.problem.box, comm);
        of_cycle = cycle->solve(solvers.front());
        prediction.cycle = told(*cycle, of_cycle.cycles);
    }
    prediction.planned = tables.front().planned;
    if (comm.rank() != 0) return prediction;

    const std::vector<ExchangePlan> plans =
        exchange_plans(grids, resolved.topology, tables, resolved.comm.sampled_nodes);
    const LevelRange bottom = bottom_of(grids);
    const std::vector<LevelRanks> fewer = fewer_ranks(grids, resolved.topology);
    const Imagined where{.topology = resolved.topology,
                         .model = *resolved.machine,
                         .all_reduce = resolved.comm.all_reduce_model,
                         .sums = move_of(resolved.comm.all_reduce),
                         .bottom = bottom,
                         .fewer = fewer};
    for (std::size_t n = 0; n < solves.size(); ++n) {
        const NamedSolver& solver = solvers[n];
        const Rehearsed& solve = solves[n];
        const bool given = solver.options.assumed_iterations > 0;
        const Rehearsal& on = given ? *sample : *whole;
        PredictedSolve predicted;
        predicted.solver = solver.name;
        predicted.given = given;
        // A solver whose bottom needs more cycles than the first one's needs as many times more of all.
        const double of_first = 1.0 * of_cycle.cycles / solves.front().cycles;
        predicted.cycles = cycle ? of_first * solve.cycles : solve.cycles;
        const double visits = cycle ? 1.0 * of_cycle.visits / solves.front().visits : 1.0;
        const auto iterations = static_cast<double>(solve.iterations);
        predicted.iterations = given ? solver.options.assumed_iterations : visits * iterations;

        std::vector<Slice> slices;
        if (grids.use.krylov == KrylovLevel::finest) {
            slices.push_back(slice_of(grids, on, solve.trace, 0, 0));
            slices[0].times = iterations > 0 ? predicted.iterations / iterations : 1.0;
        } else if (cycle || given) {
            const int first = on.grids().levels() - 1 - (bottom.last - bottom.first);
            slices.push_back(slice_of(grids, on, solve.trace, first, bottom.first));
            const Rehearsed* const other = smaller_solves[n] ? &*smaller_solves[n] : nullptr;
            const Weights times = weights_of(visits * solve.visits, predicted.iterations, solve, other);
            slices[0].times = times.first;
            if (times.second != 0) {
                slices.push_back(slice_of(grids, *smaller, other->trace, first, bottom.first));
                slices.back().times = times.second;
            }
            slices.push_back(cycle ? slice_of(grids, *cycle, of_cycle.trace, 0, 0)
                                   : slice_of(grids, on, solve.trace, 0, 0));
            slices.back().last = bottom.first - 1;
            slices.back().times = cycle ? predicted.cycles / of_cycle.cycles : 1.0;
        } else {
            slices.push_back(slice_of(grids, on, solve.trace, 0, 0));
        }
        predict_times(predicted, slices, plans, where);
        predicted.rehearsed_cycles = solve.cycles;
        predicted.rehearsed_iterations = solve.iterations;
        predicted.converged = solve.converged && (!cycle || of_cycle.converged);
        predicted.outcome = solve.converged && cycle ? of_cycle.outcome : solve.outcome;
        prediction.solves.push_back(predicted);
    }
    return prediction;
}

}  // namespace keel
