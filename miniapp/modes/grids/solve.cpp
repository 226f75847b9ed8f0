// run.mode = solve: multigrid, again and again.

#include <algorithm>
#include <span>

#include "miniapp/deck/section.hpp"
#include "miniapp/modes/grids/checks.hpp"
#include "miniapp/modes/grids/full_multigrid.hpp"
#include "miniapp/modes/grids/measured_solves.hpp"
#include "miniapp/report/records/records.hpp"
#include "miniapp/report/tables/level_tables.hpp"

namespace keel {
namespace {

class SolveMode : public HierarchyMode {
  public:
    std::string name() const override { return "solve"; }
    std::string meaning() const override { return "multigrid cycles to a tolerance"; }
    void add_keys(Table& table) const override {
        Section<StepOptions> s(table, "run", {name(), "survey"});
        s.integer("steps", &StepOptions::steps, between(1, 100000),
                  "time steps, each a solve with other coefficients and another right-hand side", "steps");
        s.experts()
            .choice("start", &StepOptions::start, "initial guess of all steps but the first")
            .needs("run.steps", {}, {"1"});
    }
    void check(Rules& rules, int ranks) const override {
        GridMode::check(rules, ranks);
        check_steps(rules);
        if (is_full_cycle(rules.parameters().multigrid)) check_full_cycle(rules);
    }
    KeyUses keys() const override {
        std::vector<KeyUse> uses = keys_of_grids();
        uses.push_back({"multigrid."});
        uses.push_back({"multigrid.accelerator", {{"multigrid.cycle", {keel::name(Cycle::v)}}}});
        uses.push_back({"multigrid.accelerator", {{"multigrid.max_cycles", {}, {"1"}}}});
        return {uses, "plays no part in run.mode = solve; leave it out"};
    }

  protected:
    GridUse use(const Deck& deck) const override {
        return {.solvers = solvers(deck),
                .full_multigrid = is_full_cycle(deck.parameters.multigrid),
                .mixes = true};
    }
    void measure(const Setting& setting, Findings& findings) const override {
        if (setting.grids.use.full_multigrid) return measure_full_cycle(setting, findings);
        const NamedSolver& bottom = setting.grids.use.solvers.front();
        Multigrid multigrid(setting.hierarchy, setting.grids.multigrid, bottom.options);
        findings.facts.setup_seconds = setting.setup_seconds();

        const int steps = setting.prepared.options<StepOptions>().steps;
        std::vector<SolveRecord> solves;   // step after step, repeat after repeat
        std::vector<double> coefficients;  // seconds of a step, by repeats
        const auto one = [&](int n) {
            const Resolved& run = setting.resolved;
            const std::vector<SolveRecord> row =
                solve_steps(setting, multigrid, bottom.name, [&](const SolveRecord& solve) {
                    say_solved(setting, numbered(n), solve, run.warmup + n + 1, run.warmup + run.repeats);
                });
            if (n < 0) return mean_of_steps(row);
            double updated = 0;
            for (const SolveRecord& solve : row) {
                updated += solve.coefficients_seconds;
                const auto repeat = static_cast<std::size_t>(n);
                setting.context.report.record(line_of(solve_record(repeat, solve)));
                solves.push_back(solve);
            }
            coefficients.push_back(updated / steps);
            return mean_of_steps(row);
        };
        const auto repeated = repeat_solves(
            setting, findings, {.solve = one, .begin = [&] { forget_cycles(multigrid); }, .solves = steps});
        if (!repeated) return;
        const std::vector<TimerRow>& timers = repeated->timers;
        const std::optional<AmgFindings> amg = algebraic_findings(multigrid, repeated->done * steps);
        findings.facts.coefficients_seconds = median(coefficients);
        findings.parts = parts_of(timers, setting.hierarchy.levels() - 1);
        findings.moved =
            movement_of(timers, static_cast<double>(findings.facts.domain->cells), repeated->digits);
        findings.merit = cells_per_second(findings.facts, findings.seconds,
                                          {setting.grids.multigrid.tolerance, repeated->digits},
                                          setting.grids.hierarchy.mixed);
        const auto last_steps = std::span(solves).last(static_cast<std::size_t>(steps));
        report_solves(
            setting, findings, *repeated,
            {.before = convergence_text(solves.back(), bottom.options) +
                       (steps > 1 ? "\n" + steps_text(last_steps) : ""),
             .behind = algebraic_text(amg, bottom.name, setting.hierarchy.levels() - 1),
             .records = records_of_bottom(setting, timers, last_steps) + algebraic_records(amg, bottom.name),
             .visits = static_cast<double>(solves.back().report.visits.size())});
        check_solves(setting, multigrid, solves, findings.checks);
    }

  private:
    static TimedSolve mean_of_steps(const std::vector<SolveRecord>& row) {
        TimedSolve mean;
        std::vector<std::optional<double>> digits;
        for (const SolveRecord& solve : row) {
            mean.seconds += solve.cost.seconds;
            mean.my_seconds += solve.cost.my_seconds;
            mean.graph_replays += solve.cost.graph_replays;
            digits.push_back(digits_of(solve.report.residuals));
        }
        mean.seconds /= static_cast<double>(row.size());
        mean.digits = mean_of(digits);
        return mean;
    }

    // The bottom's kernels in one solve; repeats are alike.
    static std::string records_of_bottom(const Setting& setting, const std::vector<TimerRow>& timers,
                                         std::span<const SolveRecord> steps) {
        const NamedSolver& bottom = setting.grids.use.solvers.front();
        double iterations = 0;
        for (const SolveRecord& step : steps) iterations += step.report.bottom_iterations();
        return bottom_kernel_records(timers, setting.hierarchy.levels() - 1, bottom,
                                     iterations / static_cast<double>(steps.size()));
    }

    static void check_solves(const Setting& setting, Multigrid& multigrid,
                             const std::vector<SolveRecord>& solves, std::vector<Check>& checks) {
        Hierarchy& hierarchy = setting.hierarchy;
        const double tolerance = setting.grids.multigrid.tolerance;
        if (setting.grids.observes_order())
            checks.push_back(discretisation_order(hierarchy, multigrid, setting.problem, tolerance));
        checks.push_back(residual_recomputed(hierarchy.level(0), setting.problem, tolerance));
        checks.push_back(problem_unchanged(hierarchy, setting.problem));
        checks.push_back(operator_symmetry(hierarchy));
        checks.push_back(all_converged(
            std::ranges::count_if(solves, [](const auto& solve) { return solve.report.converged(); }),
            static_cast<long>(solves.size())));
        if (setting.resolved.deterministic)
            checks.push_back(steps_equal(solves, setting.prepared.options<StepOptions>().steps));
    }

    // The worst check of all steps.
    static Check steps_equal(const std::vector<SolveRecord>& solves, int steps) {
        Check worst = repeats_equal({});
        for (int step = 0; step < steps; ++step) {
            std::vector<double> norms;
            for (const SolveRecord& solve : solves)
                if (solve.step.value_or(0) == step) norms.push_back(solve.u_l2);
            if (const Check of_step = repeats_equal(norms); !of_step.passed) worst = of_step;
        }
        return worst;
    }
};

}  // namespace

std::unique_ptr<Mode> make_solve_mode() {
    return std::make_unique<SolveMode>();
}

}  // namespace keel
