#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "miniapp/deck/text/text.hpp"
#include "miniapp/modes/grids/checks.hpp"
#include "miniapp/modes/grids/fixed_point/fixed_point.hpp"
#include "miniapp/modes/grids/measured_solves.hpp"
#include "miniapp/report/records/krylov_record.hpp"

namespace keel {
namespace {

struct FixedPointRecord {
    AndersonReport report;
    SolveCost cost;
    MapWork work;
    double u_l2 = 0;
};

std::string method_text(const AndersonOptions& options) {
    if (options.depth == 0) return "Picard's iteration";
    return fmt::format("Anderson acceleration of depth {} by {}", options.depth, options.orthogonalisation);
}

std::string convergence_text(const AndersonOptions& options, const FixedPointRecord& solve,
                             const char* norm) {
    const AndersonReport& report = solve.report;
    std::string text = history_text(
        fmt::format("Convergence of the last solve: {}; {}", method_text(options), norm), report.history);
    text += fmt::format("{}, {}; {} of G", counted(report.iterations, "iteration"), name(report.outcome),
                        counted(report.evaluations, "evaluation"));
    if (solve.work.cycles) text += fmt::format(" by {} V-cycles", *solve.work.cycles);
    text += fmt::format("; true residual {:.3e}\n", report.true_residual);
    if (options.depth == 0) return text;
    text += fmt::format("orthogonalisation: {} all-reduces of {} words together",
                        report.orthogonalisation.reductions, report.orthogonalisation.words);
    if (report.dropped > 0)
        text += fmt::format("; {} dropped for the condition", counted(report.dropped, "difference"));
    if (report.dependent > 0) text += fmt::format("; {} dependent", counted(report.dependent, "difference"));
    return text + "\n";
}

Json json_of(const std::optional<long>& count) {
    return count ? Json(*count) : Json();
}

Json solve_record(std::size_t repeat, const AndersonOptions& options, const FixedPointRecord& solve,
                  const char* norm) {
    const AndersonReport& report = solve.report;
    Json record{{"record", "solve"},
                {"solver", options.depth > 0 ? "anderson" : "picard"},
                {"repeat", repeat},
                {"seconds", solve.cost.seconds},
                {"converged", report.converged()},
                {"outcome", name(report.outcome)},
                {"norm", norm},
                {"iterations", report.iterations},
                {"evaluations", report.evaluations},
                {"residuals", report.history},
                {"true_residual", report.true_residual},
                {"depth", options.depth},
                {"orthogonalisation", options.orthogonalisation},
                {"orthogonalisation_reductions", report.orthogonalisation.reductions},
                {"orthogonalisation_words", report.orthogonalisation.words},
                {"differences_dropped", report.dropped},
                {"differences_dependent", report.dependent},
                {"map_cycles", json_of(solve.work.cycles)},
                {"bottom_iterations", json_of(solve.work.bottom_iterations)},
                {"map_unsolved", json_of(solve.work.unsolved)}};
    add_cost(record, solve.cost, solve.u_l2);
    return record;
}

void check_solves(const Setting& setting, const std::vector<FixedPointRecord>& solves, Field u, Field f,
                  std::vector<Check>& checks) {
    const auto equation = setting.prepared.options<FixedPointOptions>();
    const auto acceleration = setting.prepared.options<AndersonOptions>();
    Level& top = setting.hierarchy.level(0);
    const auto count = [&](const auto& holds) { return std::ranges::count_if(solves, holds); };
    if (!equation.is_mixture()) {
        // By the plain kernels; over the greatest eigenvalue it is about the error of u that it stands for.
        GridSystem plain(*top.plain, *top.ghosts, *top.reduction, top.L, DiagonalScaling::none);
        top.ghosts->run(u);
        top.plain->residual(top.r, top.L, u, f);
        if (!equation.is_linear()) top.plain->add_reaction(top.r, top.r, -1, equation.phi(), u);
        const double residual = plain.max_norm(top.r);
        if (equation.map == MapKind::cycle) {
            top.plain->fill(u, 0.0);
            top.plain->copy(top.u, f);
            if (!equation.is_linear()) top.plain->add_reaction(top.u, f, -1, equation.phi(), u);
            const double start = plain.max_norm(top.u);
            const double value = start > 0 ? residual / start : residual;
            checks.push_back({"residual_recomputed", value <= 1.001 * acceleration.tolerance, value,
                              "<= anderson.tolerance, of max|f - N(u)| / max|f - N(0)|"});
        } else {
            const double value = residual / top.gershgorin_bound;
            checks.push_back(
                {"residual_recomputed", value <= Anderson::slack * acceleration.tolerance, value,
                 fmt::format("<= {:g} anderson.tolerance, of max|f - N(u)| / |L|", Anderson::slack)});
            long unsolved = 0;
            long evaluations = 0;
            for (const FixedPointRecord& solve : solves) {
                unsolved += solve.work.unsolved.value_or(0);
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
        acceleration.depth > 0 && acceleration.inner <= 0 && !setting.resolved.deterministic &&
        count([](const auto& solve) { return solve.report.dropped + solve.report.dependent > 0; }) == 0;
    if (normal) {
        long difference = 0;
        for (const FixedPointRecord& solve : solves) {
            const QRCost want = Anderson::predicted(acceleration, solve.report.iterations);
            const QRCost got = solve.report.orthogonalisation;
            difference = std::max(difference, std::abs(want.reductions - got.reductions));
        }
        // A test on G(u) - u ends the last iteration before its step.
        const bool ends_early = acceleration.test != AndersonTest::step;
        checks.push_back({"reductions_as_predicted", difference <= (ends_early ? 1 : 0),
                          static_cast<double>(difference),
                          "no difference of the orthogonalisation's all-reduces"});
    }
    if (setting.resolved.deterministic) checks.push_back(repeats_equal(norms_of(solves)));
}

}  // namespace

void measure_fixed_point(const Setting& setting, Findings& findings) {
    const auto acceleration = setting.prepared.options<AndersonOptions>();
    const Communicator& comm = setting.context.comm;
    Level& top = setting.hierarchy.level(0);
    PosedFixedPoint posed(setting.hierarchy, setting.grids, setting.prepared.options<FixedPointOptions>());
    Anderson anderson(posed.vectors(), acceleration);
    const char* const norm = posed.norm_of(acceleration);
    findings.facts.setup_seconds = setting.setup_seconds();

    std::vector<FixedPointRecord> solves;
    FixedPointRecord last;
    const auto one = [&](int) {
        posed.begin();
        last = {};
        const MapWork before = posed.map().work();
        last.cost = measured(comm, setting.context.backend, setting.hierarchy,
                             [&] { last.report = posed.solve(anderson); });
        last.work = posed.map().work() - before;
        return timed(last.cost, fmt::format("{} iterations", last.report.iterations),
                     digits_of(last.report.history));
    };
    const auto keep = [&] {
        last.u_l2 = l2_norm(top, posed.u());
        setting.context.report.record(line_of(solve_record(solves.size(), acceleration, last, norm)));
        solves.push_back(last);
    };
    const auto repeated = repeat_solves(setting, findings, {.solve = one, .keep = keep});
    if (!repeated) return;
    findings.parts = parts_of(repeated->timers, setting.hierarchy.levels() - 1);
    findings.merit =
        cells_per_second(findings.facts, findings.seconds, {acceleration.tolerance, repeated->digits});
    report_solves(setting, findings, *repeated,
                  {.before = convergence_text(acceleration, solves.back(), norm)});

    check_solves(setting, solves, posed.u(), posed.f(), findings.checks);
}

}  // namespace keel
