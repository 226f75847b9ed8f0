// The seconds that --dry-run predicts for solves on grids: of multigrid, or of Krylov methods on the finest
// grid, with every solver of the mode.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "miniapp/deck/text/text.hpp"
#include "miniapp/modes/grids/grid_mode.hpp"
#include "miniapp/modes/grids/prediction/proxy_grid.hpp"
#include "miniapp/report/tables/level_tables.hpp"
#include "solvers/krylov/methods.hpp"

namespace keel {
namespace {

// The levels that seconds call the bottom.
LevelRange bottom_of(const GridSetup& grids) {
    if (grids.use.krylov == KrylovLevel::finest) return {0, 0};
    const std::vector<LevelShape> levels = grids.shapes();
    const auto merged =
        std::ranges::find_if(levels, [](const LevelShape& level) { return level.merged > 1; });
    const auto last = static_cast<int>(levels.size()) - 1;
    return {std::min(static_cast<int>(merged - levels.begin()), last), last};
}

// The messages of algebraic multigrid on the bottom level are not planned.
std::vector<NamedSolver> without_algebraic(std::vector<NamedSolver> solvers) {
    std::erase_if(solvers, [](const NamedSolver& solver) { return uses_algebraic(solver.options); });
    return solvers;
}

bool is_assumed(const NamedSolver& solver) {
    return solver.options.assumed_iterations > 0;
}

// The bottom, which is the real one, and the level above, from which it gets its right-hand sides. Where
// boxes are missing, all levels if the grid is small: at inner edges cycles converge more slowly.
ProxyBoxes whole_of(const GridSetup& grids) {
    constexpr double small = 1 << 21;  // cells, solved on in seconds
    const double cells = grids.domain.count() * grids.problem.box_cells();
    const bool all_levels = !grids.domain.whole() && cells <= small;
    if (all_levels || grids.use.krylov == KrylovLevel::finest) return {grids.domain, grids.problem.box};
    const int above = std::max(bottom_of(grids).first - 1, 0);
    return {grids.domain, grids.shapes()[static_cast<std::size_t>(above)].width};
}
constexpr int most_across = 8;  // boxes in a direction: enough for a bottom solve whose iterations are known
ProxyBoxes bottom_sample_of(const GridSetup& grids, int most = most_across) {
    Index boxes = grids.domain.whole() ? grids.domain.around()
                                       : most_cubic(grids.domain.count(), grids.domain.dimensions());
    for (int& count : boxes) count = std::min(count, most);
    return side_by_side(grids, boxes, whole_of(grids).box);
}
// Whether there are levels above that the bottom's own grid does not have.
bool has_cycle(const GridSetup& grids) {
    return whole_of(grids).box != grids.problem.box;
}
// All levels, on as many boxes as there are ranks here, or several for each where a rank has several: cycles
// on more boxes converge more like those on all. Wide ones take long. Of 36 cycles of a run (2 x 2 x 4 boxes
// of 32^3, one half sweep before and after) one box with all levels predicts 21, the bottom's own grid 13.
ProxyBoxes cycle_of(const GridSetup& grids, int ranks_here) {
    constexpr int most = 8;
    constexpr int widest = 64;
    const int each = grids.problem.box <= widest ? std::min(grids.most_boxes_of_a_rank(), most) : 1;
    return side_by_side(grids, most_cubic(ranks_here * each, grids.domain.dimensions()), grids.problem.box);
}

// The ranks and plans by which solves are priced.
struct Place {
    const Topology& topology;
    std::vector<LevelSchemes> schemes;
    VariedCosts& costs;
};

// A proxy solve for each solver, and one for the cycles unless the very grid is solved on.
class ProxySolves {
  public:
    // Bottoms of `most` boxes in a direction; 0: of all.
    ProxySolves(const GridSetup& grids, int most, const Communicator& comm, Progress& progress)
        : grids_(grids), most_(most), solvers_(without_algebraic(grids.use.solvers)) {
        for (std::size_t n = 0; n < solvers_.size(); ++n) {
            progress.say("solving here with " + solvers_[n].name, static_cast<int>(n) + 1,
                         static_cast<int>(solvers_.size()));
            const bool sampled = most > 0 || is_assumed(solvers_[n]);
            std::optional<ProxyGrid>& on = sampled ? sample_ : whole_;
            if (!on) on.emplace(grids, sampled ? sampled_boxes() : whole_of(grids), comm);
            solves_.push_back(on->solve(solvers_[n]));
        }
        progress.say("solving here for the cycles");
        if (!has_cycle(grids)) return;
        GridSetup unmerged = grids;
        unmerged.hierarchy.agglomerate = 0;
        unmerged.hierarchy.bottom_grid = BottomRanks::owners;
        unmerged.hierarchy.bottom_ghosts = powers_need(grids.use, grids.hierarchy.bottom_box).layers;
        cycle_.emplace(unmerged, cycle_of(grids, comm.size()), comm);
        of_cycle_ = cycle_->solve(solvers_.front());
    }

    std::size_t count() const { return solves_.size(); }
    PredictedSolve predicted(std::size_t n, const Place& place) const;
    std::vector<std::string> sources() const;

  private:
    struct Executed {
        SolveCounts counts;
        Slice slice;
    };
    Executed executed(std::size_t n, const BottomOptions& options, const Place& place) const;
    ProxyBoxes sampled_boxes() const { return bottom_sample_of(grids_, most_ > 0 ? most_ : most_across); }
    // Iterations of a Krylov method on all boxes over those on the sampled ones: they grow with the cells in
    // a row.
    double growth() const {
        return 1.0 * std::ranges::max(grids_.domain.around()) /
               std::ranges::max(sampled_boxes().domain.around());
    }

    const GridSetup& grids_;
    int most_;
    std::vector<NamedSolver> solvers_;
    std::optional<ProxyGrid> whole_, sample_, cycle_;
    std::vector<ProxySolve> solves_;
    ProxySolve of_cycle_;
};

ProxySolves::Executed ProxySolves::executed(std::size_t n, const BottomOptions& options,
                                            const Place& place) const {
    SolveTape tape = cycle_ ? of_cycle_.tape : solves_[n].tape;
    tape.take_bottom(solves_[n].tape);
    ReplayedGrid on(grids_, place.topology, place.schemes, tape);
    GridSolver solver(on.hierarchy(), on.grids(), {solvers_[n].name, options});
    if (grids_.gpu) {  // as after a warm-up: buffers are there, graphs are recorded
        solver.solve();
        on.rewind();
    }
    on.take();  // events before it
    const SolveCounts counts = solver.solve();
    return {counts, on.take()};
}

PredictedSolve ProxySolves::predicted(std::size_t n, const Place& place) const {
    const ProxySolve& solve = solves_[n];
    BottomOptions options = solvers_[n].options;
    Executed all = executed(n, options, place);
    // A solver whose bottom needs more cycles than the first one's needs as many times more of all. Stages in
    // single precision have other numbers of cycles on the proxy's cells.
    const double cycles =
        cycle_ ? 1.0 * of_cycle_.cycles * solve.cycles / solves_.front().cycles : solve.cycles;
    const double times = all.counts.cycles > 0 ? cycles / all.counts.cycles : 1;
    all.slice.times = times;
    double iterations = times * static_cast<double>(all.counts.iterations);
    PredictedSolve predicted;
    double assumed = options.assumed_iterations;
    if (most_ > 0 && assumed == 0)
        assumed = iterations * (method_named(options.solver).is_krylov() ? growth() : 1);
    predicted.assumed = assumed > 0;
    std::vector<Slice> slices{std::move(all.slice)};
    if (predicted.assumed) {
        // Two solves tell the cost of a visit to the bottom from that of its iterations: the second has at
        // most half as many, and about those assumed if that is less.
        const long visits = std::max(1, all.counts.visits);
        const long fewest = std::min(std::lround(assumed), all.counts.iterations / 2) / visits;
        options.max_iterations = static_cast<int>(std::max(1L, fewest));
        Executed half = executed(n, options, place);
        const auto fewer = static_cast<double>(all.counts.iterations - half.counts.iterations);
        const double more = assumed - iterations;
        if (fewer > 0) {
            slices.front().times += more / fewer;
            half.slice.times = -more / fewer;
            slices.push_back(std::move(half.slice));
        } else if (iterations > 0) {
            slices.front().times *= assumed / iterations;
        }
        iterations = assumed;
    }
    predicted.solver = solvers_[n].name;
    predicted.counts = {{"cycles", "cycles", cycles}, {"iterations", "bottom_iterations", iterations}};
    predicted.visits = times * all.counts.visits;
    predicted.proxy_cycles = solve.cycles;
    predicted.proxy_iterations = solve.iterations;
    predicted.converged = solve.converged && (!cycle_ || of_cycle_.converged);
    predicted.outcome = solve.converged && cycle_ ? of_cycle_.outcome : solve.outcome;
    const ProxyGrid& on = predicted.assumed ? *sample_ : *whole_;
    predicted.more = Json{{"computed_on", on.json(on.first_cycles())},
                          {"cycles_computed_on", cycle_ ? cycle_->json(of_cycle_.cycles) : Json()}}
                         .dump();
    predict(predicted, slices, place.costs, bottom_of(grids_));
    return predicted;
}

std::vector<std::string> ProxySolves::sources() const {
    const auto text = [](const ProxyGrid& on) {
        return fmt::format("{}, {}", on.text(), counted(on.first_cycles(), "cycle"));
    };
    std::vector<std::string> assumed;
    for (const NamedSolver& solver : solvers_)
        if (is_assumed(solver)) assumed.push_back(solver.name);
    std::vector<std::string> sources;
    if (most_ > 0)
        sources.push_back(fmt::format(
            "assumed, since solving on all boxes would exceed run.dry_run_limit: Krylov methods take {:.3g} "
            "times the iterations that they take on {} (cells in a row)",
            growth(), text(*sample_)));
    if (whole_)
        sources.push_back(fmt::format("computed: {}, all-reduces and their words, by solving on {}",
                                      cycle_ ? "the bottom's iterations" : "the solve", text(*whole_)));
    if (!assumed.empty())
        sources.push_back(fmt::format(
            "assumed: bottom.assumed_iterations of {}; the cost of an iteration and of a visit by solving on "
            "{}",
            fmt::join(assumed, ", "), text(*sample_)));
    if (cycle_)
        sources.push_back(fmt::format(
            "computed: V-cycles, by solving on {}; the bottom's numbers are those of as many visits",
            text(*cycle_)));
    return sources;
}

// The cost of all proxy solves, `most` as ProxySolves has it.
DryRunCost cost_of_solves(const GridSetup& grids, int ranks_here, int most) {
    DryRunCost cost;
    for (const NamedSolver& solver : without_algebraic(grids.use.solvers)) {
        const ProxyBoxes on = most > 0             ? bottom_sample_of(grids, most)
                              : is_assumed(solver) ? bottom_sample_of(grids)
                                                   : whole_of(grids);
        cost += cost_of_proxy_solve(grids, on, ranks_here, solver);
    }
    if (!has_cycle(grids)) return cost;
    return cost +=
           cost_of_proxy_solve(grids, cycle_of(grids, ranks_here), ranks_here, grids.use.solvers.front());
}

// Boxes in a direction of the largest bottom on which a dry run may solve: 0 = all, and where none is small
// enough.
int most_affordable(const GridSetup& grids, const SharedMemory& memory, int ranks_here) {
    if (grids.use.krylov != KrylovLevel::coarsest) return 0;
    for (const int most : {0, 8, 6, 4, 3, 2})
        if (memory.limit().allows(cost_of_solves(grids, ranks_here, most))) return most;
    return 0;
}

std::string why_not_multigrid(const GridSetup& grids, const SharedMemory& memory, int ranks_here, int most) {
    if (const std::string reason = why_not_predicted(grids); !reason.empty()) return reason;
    return why_not_solved(
        cost_of_solves(grids, ranks_here, most),
        "bottom.assumed_iterations (in a survey \"cg assumed_iterations=269\"), fewer solvers or "
        "boxes, a smaller problem.box",
        memory);
}

std::string level_tables(const GridSetup& grids, const PredictedSolve& solve) {
    RunFacts facts;
    facts.dimensions = grids.domain.dimensions();
    facts.levels = grids.shapes();
    return times_text(facts, solve.time.rows) + "\n" + communication_text(facts, solve.time.rows) +
           visits_text(solve.time.rows, facts.levels.size() - 1, solve.visits) + "\n";
}

}  // namespace

Prediction HierarchyMode::predict(const PreparedGrids& prepared, const std::vector<SchemeTable>& tables,
                                  const Communicator& comm, const SharedMemory& memory,
                                  Progress& progress) const {
    const GridSetup& grids = prepared.grids();
    const Topology& topology = prepared.resolved().topology;
    Prediction prediction;
    if (!grids.use.predicted) return prediction;
    const int most = most_affordable(grids, memory, comm.size());
    prediction.why_not = why_not_multigrid(grids, memory, comm.size(), most);
    if (!prediction.why_not.empty()) return prediction;
    VirtualRanks ranks = virtual_ranks(prepared.resolved());
    const ProxySolves proxies(grids, most, comm, progress);
    if (comm.rank() != 0) return prediction;

    const std::vector<Topology> levels = ranks_by_level(grids, topology);
    ranks.levels = levels;
    const std::vector<ExchangePlan> plans = exchange_plans(grids, topology, tables);
    VariedCosts costs(plans, ranks);
    const Place place{topology, schemes_by_level(tables), costs};
    for (std::size_t n = 0; n < proxies.count(); ++n)
        prediction.solves.push_back(proxies.predicted(n, place));
    prediction.sources = proxies.sources();
    prediction.bottom = bottom_of(grids).last;
    if (prediction.solves.size() == 1) prediction.tables = level_tables(grids, prediction.solves.front());
    for (const auto& [name, options] : grids.use.solvers)
        if (uses_algebraic(options))
            prediction.remarks += fmt::format(
                "remark: no seconds are predicted of {}: no dry run plans levels of algebraic multigrid "
                "here\n",
                name);
    return prediction;
}

}  // namespace keel
