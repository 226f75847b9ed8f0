// The seconds that --dry-run predicts for run.mode = fixed_point on comm.machine: without acceleration, and
// by each way to orthogonalise.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "miniapp/modes/grids/fixed_point/fixed_point.hpp"
#include "miniapp/modes/grids/prediction/proxy_grid.hpp"
#include "solvers/krylov/methods.hpp"

namespace keel {
namespace {

// A grid of this number of cells shows iterations well enough, and is solved on in seconds.
constexpr double enough_cells = 1 << 15;

bool is_small(const GridSetup& grids) {
    return static_cast<double>(product(grids.finest().cells())) <= enough_cells;
}

// All boxes, or few.
ProxyBoxes sample_of(const GridSetup& grids, int ranks_here) {
    const auto dimensions = grids.domain.dimensions();
    Index boxes = grids.domain.around();
    if (is_small(grids)) return {grids.domain, grids.problem.box};
    int side = 1;
    while (std::pow(side + 1, dimensions) * grids.problem.box_cells() <= enough_cells) ++side;
    for (std::size_t d = 0; d < dimensions; ++d) boxes[d] = std::min(boxes[d], side);
    if (product(boxes) < static_cast<std::size_t>(ranks_here)) boxes = most_cubic(ranks_here, dimensions);
    return side_by_side(grids, boxes, grids.problem.box);
}

// The real bottom and the level above it, if there is one.
ProxyBoxes bottom_boxes_of(const GridSetup& grids) {
    return {grids.domain, std::min(grids.problem.box, 2 * grids.hierarchy.bottom_box)};
}

bool solves_bottom(const GridSetup& grids) {
    return !is_small(grids) && !grids.use.solvers.empty();
}
// The coarsest level is relaxed, and a large one takes more cycles.
bool relaxes_bottom(const GridSetup& grids, const FixedPointOptions& equation) {
    return !is_small(grids) && equation.by_fas();
}

struct Iterated {
    std::unique_ptr<ProxyGrid> on;
    AndersonReport report = {};
    long visits = 0;
    int cycles = 0;
};

Iterated iterate(const GridSetup& grids, const ProxyBoxes& boxes, const FixedPointOptions& equation,
                 const AndersonOptions& acceleration, const Communicator& comm) {
    Iterated iterated{std::make_unique<ProxyGrid>(grids, boxes, comm)};
    ProxyGrid& proxy = *iterated.on;
    proxy.record();
    PosedFixedPoint posed(proxy.hierarchy(), proxy.grids(), equation);
    Anderson anderson(posed.vectors(), acceleration);
    posed.begin();
    iterated.report = posed.solve(anderson);
    const MapWork work = posed.map().work();
    iterated.visits = work.visits;
    const bool by_cycles = equation.map == MapKind::cycle && !equation.is_mixture();
    iterated.cycles = static_cast<int>(by_cycles ? iterated.report.evaluations : work.cycles.value_or(0));
    return iterated;
}

// Without acceleration, and by each method, mgs first.
std::vector<std::pair<std::string, AndersonOptions>> ways(const AndersonOptions& acceleration) {
    AndersonOptions picard = acceleration;
    picard.depth = picard.inner = 0;
    std::vector<std::pair<std::string, AndersonOptions>> all{{"picard", picard}};
    if (acceleration.depth == 0) return all;
    for (const std::string& method : orthogonaliser_names()) {
        AndersonOptions by_method = acceleration;
        by_method.orthogonalisation = method;
        if (acceleration.orthogonalisation.ends_with("/mgs")) by_method.orthogonalisation += "/mgs";
        all.insert(method == "mgs" ? all.begin() + 1 : all.end(), {method, by_method});
    }
    return all;
}

// Each way takes some tens of evaluations of a cycle.
DryRunCost cost_of_iterations(const PreparedGrids& prepared, const FixedPointOptions& equation,
                              const AndersonOptions& acceleration, int ranks_here) {
    const GridSetup& grids = prepared.grids();
    DryRunCost cost;
    if (solves_bottom(grids))
        cost = cost_of_proxy_solve(grids, bottom_boxes_of(grids), ranks_here, grids.use.solvers.front());
    const auto size_on = [&](const ProxyBoxes& boxes) {
        return size_of_proxy_solve(grids, boxes, ranks_here, prepared.make_solvers());
    };
    SolveSize on_sample = size_on(sample_of(grids, ranks_here));
    SolveSize on_bottom = size_on(bottom_boxes_of(grids));
    on_sample.cycles = on_bottom.cycles = 30;
    on_bottom.iterations = on_bottom.cycles * grids.use.full_approximation.value_or(1);
    for (std::size_t way = 0; way < ways(acceleration).size(); ++way) {
        cost += cost_of_solve(on_sample);
        if (relaxes_bottom(grids, equation)) cost += cost_of_solve(on_bottom);
    }
    return cost;
}

std::string why_not_fixed_point(const PreparedGrids& prepared, const FixedPointOptions& equation,
                                const AndersonOptions& acceleration, const SharedMemory& memory,
                                int ranks_here) {
    const GridSetup& grids = prepared.grids();
    if (const std::string reason = why_not_predicted(grids); !reason.empty()) return reason;
    if (grids.merges() || grids.moves_bottom())
        return " where coarse boxes merge or move: proxy solves have all levels on all ranks; choose "
               "multigrid.agglomerate = \"never\" and multigrid.bottom_grid = \"distributed\"";
    return why_not_solved(cost_of_iterations(prepared, equation, acceleration, ranks_here),
                          "fewer boxes, a smaller problem.box", memory);
}

// One solve shows what a visit to the bottom does there.
struct BottomSolve {
    ProxyGrid grid;
    ProxySolve solve;
};

// `on_bottom`: the iteration whose number of iterations is believed, where that is another one.
PredictedSolve solve_of(const std::string& name, const AndersonOptions& options, const Iterated& iterated,
                        const Iterated* on_bottom, const BottomSolve* bottom) {
    const AndersonReport& report = iterated.report;
    const AndersonReport& believed = on_bottom ? on_bottom->report : report;
    const double times = 1.0 * believed.iterations / report.iterations;
    const double of_visits = bottom ? static_cast<double>(iterated.visits) / bottom->solve.visits : 0;
    PredictedSolve solve;
    solve.solver = name;
    solve.converged = believed.converged() && report.converged();
    solve.outcome = keel::name(believed.converged() ? report.outcome : believed.outcome);
    solve.proxy_cycles = iterated.cycles;
    solve.proxy_iterations = report.iterations;
    const auto as_double = [](auto value) { return static_cast<double>(value); };
    solve.counts = {
        {"iterations", "iterations", as_double(believed.iterations)},
        {"evaluations", "evaluations", as_double(believed.evaluations)},
        {"cycles", "map_cycles", times * as_double(iterated.cycles)},
        {"bottom\niterations", "bottom_iterations",
         bottom ? of_visits * as_double(bottom->solve.iterations) : 0},
        {"QR\nall-reduces", "orthogonalisation_reductions", as_double(believed.orthogonalisation.reductions)},
        {"QR\nwords", "orthogonalisation_words", as_double(believed.orthogonalisation.words)}};
    const bool accelerated = options.depth > 0;
    solve.more = Json{{"solver", accelerated ? "anderson" : "picard"},
                      {"depth", options.depth},
                      {"orthogonalisation", accelerated ? Json(name) : Json()},
                      {"computed_on", iterated.on->json(iterated.cycles)},
                      {"iterations_computed_on", on_bottom ? on_bottom->on->json(on_bottom->cycles) : Json()},
                      {"bottom_computed_on", bottom ? bottom->grid.json(bottom->solve.cycles) : Json()}}
                     .dump();
    return solve;
}

// The iteration as the busiest rank executes it.
Slice executed(const PreparedGrids& prepared, const std::vector<SchemeTable>& tables, const SolveTape& tape,
               const AndersonOptions& acceleration) {
    ReplayedGrid on(prepared.grids(), prepared.resolved().topology, schemes_by_level(tables), tape);
    PosedFixedPoint posed(on.hierarchy(), on.grids(), prepared.options<FixedPointOptions>());
    Anderson anderson(posed.vectors(), acceleration);
    posed.begin();
    on.take();  // events of the set-up
    posed.solve(anderson);
    return on.take();
}

std::vector<std::string> sources_of(const Iterated& first, const Iterated* on_bottom,
                                    const BottomSolve* bottom) {
    std::vector<std::string> sources{fmt::format("computed: what an iteration does{}, by iterating on {}",
                                                 on_bottom ? "" : ", and how many it takes",
                                                 first.on->text())};
    if (on_bottom)
        sources.push_back("computed: how many iterations the real coarsest level takes, on " +
                          on_bottom->on->text());
    if (bottom)
        sources.push_back(
            "computed: the bottom's iterations, all-reduces and their words in a visit, by solving on " +
            bottom->grid.text());
    sources.push_back("counted: bytes of work as declared, messages and bytes by the plans of all ranks");
    return sources;
}

}  // namespace

// Iterates on the ranks at hand, without acceleration and by every method.
Prediction predict_fixed_point(const PreparedGrids& prepared, const std::vector<SchemeTable>& tables,
                               const Communicator& comm, const SharedMemory& memory) {
    const GridSetup& grids = prepared.grids();
    const auto equation = prepared.options<FixedPointOptions>();
    const auto acceleration = prepared.options<AndersonOptions>();
    Prediction prediction;
    prediction.why_not = why_not_fixed_point(prepared, equation, acceleration, memory, comm.size());
    if (!prediction.why_not.empty()) return prediction;
    std::unique_ptr<BottomSolve> bottom;
    if (solves_bottom(grids)) {
        bottom.reset(new BottomSolve{ProxyGrid(grids, bottom_boxes_of(grids), comm), {}});
        bottom->solve = bottom->grid.solve(grids.use.solvers.front());
    }
    const std::vector<ExchangePlan> plans = comm.rank() == 0
                                                ? exchange_plans(grids, prepared.resolved().topology, tables)
                                                : std::vector<ExchangePlan>();
    VariedCosts costs(plans, virtual_ranks(prepared.resolved()));
    const int last = grids.levels() - 1;
    prediction.bottom = last;
    for (const auto& [name, options] : ways(acceleration)) {
        const Iterated iterated = iterate(grids, sample_of(grids, comm.size()), equation, options, comm);
        std::optional<Iterated> on_bottom;
        if (relaxes_bottom(grids, equation))
            on_bottom = iterate(grids, bottom_boxes_of(grids), equation, options, comm);
        if (comm.rank() != 0) continue;

        const Iterated* const believed = on_bottom ? &*on_bottom : nullptr;
        PredictedSolve& solve =
            prediction.solves.emplace_back(solve_of(name, options, iterated, believed, bottom.get()));
        if (prediction.sources.empty()) prediction.sources = sources_of(iterated, believed, bottom.get());
        if (!solve.converged) continue;
        SolveTape tape = iterated.on->tape();
        if (bottom) tape.take_bottom(bottom->solve.tape);
        Slice slice = executed(prepared, tables, tape, options);
        if (believed) slice.times = 1.0 * believed->report.iterations / iterated.report.iterations;
        predict(solve, std::span(&slice, 1), costs, {last, last});
    }
    return prediction;
}

}  // namespace keel
