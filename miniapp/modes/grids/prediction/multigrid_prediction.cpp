// The seconds that --dry-run predicts for solves on grids: of multigrid, or of Krylov methods on the finest
// grid, with every solver of the mode.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
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
// Enough boxes for the proportions of a bottom solve whose iterations are known.
ProxyBoxes sample_of(const GridSetup& grids) {
    constexpr int most = 8;
    Index boxes = grids.domain.whole() ? grids.domain.around()
                                       : most_cubic(grids.domain.count(), grids.domain.dimensions());
    for (int& count : boxes) count = std::min(count, most);
    return side_by_side(grids, boxes, whole_of(grids).box);
}
// Half as many in each direction, which have fewer iterations in a visit: what does not grow with them shows
// between the two.
ProxyBoxes smaller_sample_of(const GridSetup& grids) {
    const ProxyBoxes sample = sample_of(grids);
    Index boxes = sample.domain.around();
    for (int& count : boxes) count = std::max(count / 2, 1);
    return side_by_side(grids, boxes, sample.box);
}
// Whether there are levels above that the bottom's own grid does not have.
bool has_cycle(const GridSetup& grids) {
    return whole_of(grids).box != grids.problem.box;
}
// The levels above, on as many boxes as there are ranks here. In blocks half sweeps pass over the boxes of a
// rank at once, and read fewer ghosts: eight boxes show most of that, and of wider ones there are few.
ProxyBoxes cycle_of(const GridSetup& grids, int ranks_here) {
    constexpr int most = 8;
    constexpr int widest = 64;
    const bool in_blocks = grids.hierarchy.storage == Storage::blocks && grids.problem.box <= widest;
    const int each = in_blocks ? std::min(grids.most_boxes_of_a_rank(), most) : 1;
    return side_by_side(grids, most_cubic(ranks_here * each, grids.domain.dimensions()), grids.problem.box);
}

// How often a solve does what two others did, so that visits to the bottom and iterations are its own: the
// two have what a visit costs whatever its iterations, and what each of them costs. The second plays no part
// where they do not differ.
struct Weights {
    double first = 1;
    double second = 0;
};
Weights weights_of(double visits, double iterations, const ProxySolve& first, const ProxySolve* second) {
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

// A proxy solve for each solver, and one for the levels above the bottom unless the very grid is solved on.
class ProxySolves {
  public:
    ProxySolves(const GridSetup& grids, const Communicator& comm, Progress& progress)
        : grids_(grids), solvers_(without_algebraic(grids.use.solvers)) {
        for (std::size_t n = 0; n < solvers_.size(); ++n) {
            progress.say("solving here with " + solvers_[n].name, static_cast<int>(n) + 1,
                         static_cast<int>(solvers_.size()));
            solve(solvers_[n], comm);
        }
        progress.say("solving here for the levels above");
        if (!has_cycle(grids)) return;
        GridSetup unmerged = grids;
        unmerged.hierarchy.agglomerate = 0;
        unmerged.hierarchy.bottom_ghosts = powers_need(grids.use, grids.hierarchy.bottom_box).layers;
        cycle_.emplace(unmerged, cycle_of(grids, comm.size()), comm);
        of_cycle_ = cycle_->solve(solvers_.front());
    }

    std::size_t count() const { return solves_.size(); }
    PredictedSolve predicted(std::size_t n, const std::vector<ExchangePlan>& plans,
                             const VirtualRanks& ranks) const;
    std::vector<std::string> sources(int planned_nodes) const;

  private:
    void solve(const NamedSolver& solver, const Communicator& comm) {
        const bool assumed = is_assumed(solver);
        std::optional<ProxyGrid>& on = assumed ? sample_ : whole_;
        if (!on) on.emplace(grids_, assumed ? sample_of(grids_) : whole_of(grids_), comm);
        solves_.push_back(on->solve(solver));
        smaller_solves_.emplace_back();
        const ProxyBoxes few = smaller_sample_of(grids_);
        if (!assumed || few.domain.count() < comm.size()) return;
        if (!smaller_) smaller_.emplace(grids_, few, comm);
        smaller_solves_.back() = smaller_->solve(solver);
    }
    // `visits` and `iterations`: of the bottom, in the solve that is predicted.
    std::vector<Slice> slices_of(std::size_t n, double visits, double iterations, double cycles) const;

    const GridSetup& grids_;
    std::vector<NamedSolver> solvers_;
    std::optional<ProxyGrid> whole_, sample_, smaller_, cycle_;
    std::vector<ProxySolve> solves_;
    std::vector<std::optional<ProxySolve>> smaller_solves_;
    ProxySolve of_cycle_;
};

std::vector<Slice> ProxySolves::slices_of(std::size_t n, double visits, double iterations,
                                          double cycles) const {
    const ProxySolve& solve = solves_[n];
    const bool assumed = is_assumed(solvers_[n]);
    const ProxyGrid& on = assumed ? *sample_ : *whole_;
    const LevelRange all{0, grids_.levels() - 1};
    if (grids_.use.krylov == KrylovLevel::finest) {
        const double times = solve.iterations > 0 ? iterations / static_cast<double>(solve.iterations) : 1.0;
        return {on.slice_of(grids_, solve.trace, all, times)};
    }
    if (!cycle_ && !assumed) return {on.slice_of(grids_, solve.trace, all)};
    const LevelRange bottom = bottom_of(grids_);
    const ProxySolve* const other = smaller_solves_[n] ? &*smaller_solves_[n] : nullptr;
    const Weights times = weights_of(visits * solve.visits, iterations, solve, other);
    std::vector<Slice> slices{on.slice_of(grids_, solve.trace, bottom, times.first)};
    if (times.second != 0) slices.push_back(smaller_->slice_of(grids_, other->trace, bottom, times.second));
    const LevelRange above{0, bottom.first - 1};
    slices.push_back(cycle_ ? cycle_->slice_of(grids_, of_cycle_.trace, above, cycles / of_cycle_.cycles)
                            : on.slice_of(grids_, solve.trace, above));
    return slices;
}

PredictedSolve ProxySolves::predicted(std::size_t n, const std::vector<ExchangePlan>& plans,
                                      const VirtualRanks& ranks) const {
    const ProxySolve& solve = solves_[n];
    PredictedSolve predicted;
    predicted.solver = solvers_[n].name;
    predicted.assumed = is_assumed(solvers_[n]);
    // A solver whose bottom needs more cycles than the first one's needs as many times more of all.
    const double of_first = 1.0 * of_cycle_.cycles / solves_.front().cycles;
    const double cycles = cycle_ ? of_first * solve.cycles : solve.cycles;
    const double visits = cycle_ ? 1.0 * of_cycle_.visits / solves_.front().visits : 1.0;
    const double iterations = predicted.assumed ? solvers_[n].options.assumed_iterations
                                                : visits * static_cast<double>(solve.iterations);
    predicted.counts = {{"cycles", "cycles", cycles}, {"iterations", "bottom_iterations", iterations}};
    predicted.proxy_cycles = solve.cycles;
    predicted.proxy_iterations = solve.iterations;
    predicted.converged = solve.converged && (!cycle_ || of_cycle_.converged);
    predicted.outcome = solve.converged && cycle_ ? of_cycle_.outcome : solve.outcome;
    const ProxyGrid& on = predicted.assumed ? *sample_ : *whole_;
    predicted.more = Json{{"computed_on", on.json(on.first_cycles())},
                          {"cycles_computed_on", cycle_ ? cycle_->json(of_cycle_.cycles) : Json()}}
                         .dump();
    predict(predicted, slices_of(n, visits, iterations, cycles), plans, ranks, bottom_of(grids_));
    return predicted;
}

std::vector<std::string> ProxySolves::sources(int planned_nodes) const {
    const auto text = [](const ProxyGrid& on) {
        return fmt::format("{}, {}", on.text(), counted(on.first_cycles(), "cycle"));
    };
    std::vector<std::string> assumed;
    for (const NamedSolver& solver : solvers_)
        if (is_assumed(solver)) assumed.push_back(solver.name);
    std::vector<std::string> sources;
    if (whole_)
        sources.push_back(fmt::format("computed: {}, all-reduces and their words, by solving on {}",
                                      cycle_ ? "the bottom's iterations" : "the solve", text(*whole_)));
    if (sample_)
        sources.push_back(fmt::format(
            "assumed: bottom.assumed_iterations of {}; what belongs to them {} to solving on {}{}",
            fmt::join(assumed, ", "), smaller_ ? "and to visits according" : "in proportion", text(*sample_),
            smaller_ ? ", and on " + text(*smaller_) : ""));
    if (cycle_)
        sources.push_back(
            fmt::format("computed: V-cycles and the levels above, by solving on {}; the bottom's "
                        "numbers are those of as many visits",
                        text(*cycle_)));
    sources.push_back(
        fmt::format("counted: bytes of work as declared, messages and bytes by the plans of all ranks{}",
                    planned_text(planned_nodes)));
    if (grids_.merges() && grids_.use.krylov == KrylovLevel::coarsest)
        sources.push_back(
            "bottom: all levels from the first one in merged boxes on; ranks that have none of a "
            "level wait for those that do");
    return sources;
}

// The cost of all proxy solves.
DryRunCost cost_of_solves(const GridSetup& grids, int ranks_here) {
    DryRunCost cost;
    for (const NamedSolver& solver : without_algebraic(grids.use.solvers)) {
        const auto add = [&](const ProxyBoxes& boxes) {
            cost += cost_of_proxy_solve(grids, boxes, ranks_here, solver);
        };
        add(is_assumed(solver) ? sample_of(grids) : whole_of(grids));
        if (is_assumed(solver)) add(smaller_sample_of(grids));
    }
    if (!has_cycle(grids)) return cost;
    return cost +=
           cost_of_proxy_solve(grids, cycle_of(grids, ranks_here), ranks_here, grids.use.solvers.front());
}

std::string why_not_multigrid(const GridSetup& grids, const SharedMemory& memory, int ranks_here) {
    if (const std::string reason = why_not_predicted(grids); !reason.empty()) return reason;
    const std::vector<NamedSolver> solvers = without_algebraic(grids.use.solvers);
    if (grids.merges() && std::ranges::any_of(solvers, is_assumed))
        return " of assumed iterations where multigrid.agglomerate merges boxes: a small grid has fewer such "
               "levels; leave bottom.assumed_iterations out";
    return why_not_solved(
        cost_of_solves(grids, ranks_here),
        "bottom.assumed_iterations (in a survey \"cg assumed_iterations=269\"), fewer solvers or "
        "boxes, a smaller problem.box",
        memory);
}

std::string level_tables(const GridSetup& grids, const PredictedSolve& solve) {
    RunFacts facts;
    facts.dimensions = grids.domain.dimensions();
    facts.levels = grids.shapes();
    return times_text(facts, solve.time.rows) + "\n" + communication_text(facts, solve.time.rows) + "\n";
}

}  // namespace

Prediction HierarchyMode::predict(const PreparedGrids& prepared, const std::vector<SchemeTable>& tables,
                                  const Communicator& comm, const SharedMemory& memory,
                                  Progress& progress) const {
    const GridSetup& grids = prepared.grids();
    const Topology& topology = prepared.resolved().topology;
    Prediction prediction;
    if (!grids.use.predicted) return prediction;
    prediction.why_not = why_not_multigrid(grids, memory, comm.size());
    if (!prediction.why_not.empty()) return prediction;
    VirtualRanks ranks = virtual_ranks(prepared.resolved());
    const ProxySolves proxies(grids, comm, progress);
    if (comm.rank() != 0) return prediction;

    const std::vector<ExchangePlan> plans = exchange_plans(grids, topology, tables);
    const std::vector<LevelRanks> fewer = fewer_ranks(grids, topology);
    ranks.fewer = fewer;
    for (std::size_t n = 0; n < proxies.count(); ++n)
        prediction.solves.push_back(proxies.predicted(n, plans, ranks));
    prediction.sources = proxies.sources(tables.front().planned_nodes);
    prediction.bottom = bottom_of(grids).last;
    if (prediction.solves.size() == 1) prediction.tables = level_tables(grids, prediction.solves.front());
    for (const auto& [name, options] : grids.use.solvers)
        if (uses_algebraic(options))
            prediction.remarks += fmt::format(
                "remark: no seconds are predicted of {}: nobody plans the levels of algebraic multigrid "
                "here\n",
                name);
    return prediction;
}

}  // namespace keel
