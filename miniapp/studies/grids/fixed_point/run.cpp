#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "miniapp/deck/text/text.hpp"
#include "miniapp/studies/grids/checks.hpp"
#include "miniapp/studies/grids/fixed_point/fixed_point.hpp"
#include "miniapp/studies/repeat.hpp"
#include "solvers/anderson/mixture.hpp"
#include "solvers/multigrid/nonlinear/fas.hpp"
#include "solvers/multigrid/nonlinear/fixed_points.hpp"
#include "solvers/systems/grid_system.hpp"

namespace keel {
namespace {

// f = L u + phi(u) in cells, of u = sin^2(pi x) sin^2(pi y) sin^2(pi z), or without z, along the sides of the domain: Lockhart 2023, (6.11).
Formula heat_right_side(const Layout& finest, const Reaction& phi) {
    const double h = finest.spacing();
    const Index n = finest.cells();
    return [=](const Index& cell) {
        constexpr double pi = std::numbers::pi;
        std::array<double, 3> value{1, 1, 1}, curvature{};
        for (std::size_t d = 0; d < finest.dimensions(); ++d) {
            const double x = (cell[d] + 0.5) / n[d];
            const double per_length = 1 / (h * n[d]);  // x is 1 at the end of a side of length h n
            value[d] = std::pow(std::sin(pi * x), 2);
            curvature[d] = 2 * pi * pi * std::cos(2 * pi * x) * per_length * per_length;
        }
        const double laplace = curvature[0] * value[1] * value[2] + value[0] * curvature[1] * value[2] +
                               value[0] * value[1] * curvature[2];
        return -laplace + phi(value[0] * value[1] * value[2]);
    };
}

const char* norm_of(const AndersonOptions& options, const FixedPoint& G) {
    if (G.has_residual()) return "max|f - N(u)| / max|f - N(0)|";
    return options.test == AndersonTest::step       ? "max|u_{i+1} - u_i|"
           : options.test == AndersonTest::residual ? "max|G(u) - u|"
                                                    : "|G(u) - u|_2";
}

}  // namespace

void PreparedFixedPoint::measure(const Setting& setting, Findings& findings) const {
    const Communicator& comm = setting.site.comm;
    Level& top = setting.hierarchy.level(0);
    GridSystem vectors(top.operations, *top.ghosts, *top.reduction, top.L, DiagonalScaling::none);
    const Field u = vectors.make_vector();
    const bool has_f = !equation_.is_linear() && !equation_.is_mixture();
    const Field f = has_f ? vectors.make_vector() : top.f;
    if (equation_.is_heat())
        top.plain->assign(f, top.layout.box_cells(), heat_right_side(top.layout, equation_.phi()));
    else if (has_f && equation_.has_rhs())
        top.plain->copy(f, top.f);

    std::unique_ptr<FixedPoint> G;
    SolveMap* solves_linear = nullptr;
    Mixture* mixture = nullptr;
    FasMap* fas = nullptr;
    if (equation_.is_mixture()) {
        auto made = std::make_unique<Mixture>(*top.plain, *top.reduction, equation_.samples);
        mixture = made.get();
        G = std::move(made);
    } else if (equation_.by_fas()) {
        auto made = std::make_unique<FasMap>(setting.hierarchy, grids_.multigrid,
                                             *grids_.use.full_approximation, equation_.phi(), f);
        fas = made.get();
        G = std::move(made);
    } else if (equation_.is_linear()) {
        G = std::make_unique<CycleMap>(setting.hierarchy, grids_.multigrid,
                                       grids_.use.solvers.front().options);
    } else {
        auto made = std::make_unique<SolveMap>(setting.hierarchy, grids_.multigrid,
                                               grids_.use.solvers.front().options, equation_.phi(), f);
        solves_linear = made.get();
        G = std::move(made);
    }
    Anderson anderson(vectors, acceleration_);
    const char* const norm = norm_of(acceleration_, *G);
    findings.facts.setup_seconds = setting.setup_seconds();

    std::vector<FixedPointRecord> solves;
    double my_seconds = 0;
    std::vector<double> seconds;
    const auto one = [&](int n) {
        if (n == 0) setting.ledger.clear();
        if (mixture)
            mixture->set(u, Mixture::start);
        else
            top.plain->fill(u, 0.0);
        FixedPointRecord solve;
        const long cycles = solves_linear ? solves_linear->cycles() : 0;
        const long unsolved = solves_linear ? solves_linear->unsolved() : 0;
        solve.cost = measured(comm, setting.site.backend, setting.hierarchy, [&] {
            if (fas && grids_.multigrid.cycle == Cycle::f) fas->start(u);
            solve.report = anderson.solve(u, *G);
        });
        if (solves_linear) {
            solve.cycles = solves_linear->cycles() - cycles;
            solve.unsolved = solves_linear->unsolved() - unsolved;
        }
        setting.site.progress.say(fmt::format("{}: {} iterations, {}", numbered(n), solve.report.iterations,
                                              seconds_text(solve.cost.seconds)),
                                  resolved_.warmup + n + 1, resolved_.warmup + resolved_.repeats);
        if (n < 0) return;
        my_seconds += solve.cost.my_seconds;
        findings.facts.graph_replays += static_cast<double>(solve.cost.graph_replays);
        seconds.push_back(solve.cost.seconds);
        const Ledger solves_only = setting.ledger;
        solve.u_l2 = l2_norm(top, u);
        setting.ledger = solves_only;  // the norm's reduction is no part of the solve
        setting.site.report.record(line_of(solve_record(solves.size(), acceleration_, solve, norm)));
        solves.push_back(solve);
    };
    const int done = repeat(
        setting.site, {"solves", resolved_.warmup, resolved_.repeats, resolved_.min_seconds}, findings, one);
    if (done == 0) return;
    const std::vector<TimerRow> timers =
        gather_timers(comm, setting.ledger, my_seconds, done, resolved_.details.ranks);
    findings.seconds = median(seconds);
    findings.parts = parts_of(timers, setting.hierarchy.levels() - 1);
    findings.merit = cells_per_second(findings.facts, findings.seconds);
    setting.site.report.tell(convergence_text(acceleration_, solves.back(), norm) + "\n" +
                             level_report(setting, findings, timers, seconds));
    setting.site.report.record(timer_records(timers) +
                               scheme_records(resolved_.comm.chooser, setting.schemes));

    setting.site.progress.say("checking");
    check(setting, solves, u, f, findings.checks);
}

void PreparedFixedPoint::check(const Setting& setting, const std::vector<FixedPointRecord>& solves, Field u,
                               Field f, std::vector<Check>& checks) const {
    Level& top = setting.hierarchy.level(0);
    const auto count = [&](const auto& holds) { return std::ranges::count_if(solves, holds); };
    if (!equation_.is_mixture()) {
        // By the plain kernels; over the greatest eigenvalue it is about the error of u that it stands for.
        GridSystem plain(*top.plain, *top.ghosts, *top.reduction, top.L, DiagonalScaling::none);
        top.ghosts->run(u);
        top.plain->residual(top.r, top.L, u, f);
        if (!equation_.is_linear()) top.plain->add_reaction(top.r, top.r, -1, equation_.phi(), u);
        const double residual = plain.max_norm(top.r);
        if (equation_.map == MapKind::cycle) {
            top.plain->fill(u, 0.0);
            top.plain->copy(top.u, f);
            if (!equation_.is_linear()) top.plain->add_reaction(top.u, f, -1, equation_.phi(), u);
            const double start = plain.max_norm(top.u);
            const double value = start > 0 ? residual / start : residual;
            checks.push_back({"residual_recomputed", value <= 1.001 * acceleration_.tolerance, value,
                              "<= anderson.tolerance, of max|f - N(u)| / max|f - N(0)|"});
        } else {
            const double value = residual / top.gershgorin_bound;
            checks.push_back(
                {"residual_recomputed", value <= Anderson::slack * acceleration_.tolerance, value,
                 fmt::format("<= {:g} anderson.tolerance, of max|f - N(u)| / |L|", Anderson::slack)});
            long unsolved = 0;
            long evaluations = 0;
            for (const FixedPointRecord& solve : solves) {
                unsolved += solve.unsolved.value_or(0);
                evaluations += solve.report.evaluations;
            }
            checks.push_back({"maps_evaluated", unsolved == 0, static_cast<double>(unsolved),
                              fmt::format("0 of {} evaluations missed multigrid.tolerance", evaluations)});
        }
        set_right_side(top, setting.problem);
        checks.push_back(problem_unchanged(setting.hierarchy, setting.problem));
        checks.push_back(operator_symmetry(setting.hierarchy));
    }
    checks.push_back(all_converged(count([](const auto& solve) { return solve.report.converged(); }),
                                   static_cast<long>(solves.size())));
    const bool normal =
        acceleration_.depth > 0 && acceleration_.composite == 0 && !resolved_.deterministic &&
        count([](const auto& solve) { return solve.report.dropped + solve.report.dependent > 0; }) == 0;
    if (normal) {
        long difference = 0;
        for (const FixedPointRecord& solve : solves) {
            const QRCost want = Anderson::predicted(acceleration_, solve.report.iterations);
            const QRCost got = solve.report.orthogonalisation;
            difference = std::max(difference, std::abs(want.reductions - got.reductions));
        }
        // A test on G(u) - u ends the last iteration before its step.
        const bool ends_early = acceleration_.test != AndersonTest::step;
        checks.push_back({"reductions_as_predicted", difference <= (ends_early ? 1 : 0),
                          static_cast<double>(difference),
                          "no difference of the orthogonalisation's all-reduces"});
    }
    if (resolved_.deterministic) checks.push_back(repeats_equal(norms_of(solves)));
}

}  // namespace keel
