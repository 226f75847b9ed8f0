// run.mode = solve: multigrid, again and again.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "miniapp/deck/section.hpp"
#include "miniapp/deck/text/text.hpp"
#include "miniapp/modes/grids/algebraic.hpp"
#include "miniapp/modes/grids/checks.hpp"
#include "miniapp/modes/grids/grid_modes.hpp"
#include "miniapp/modes/grids/prediction/solve_cost.hpp"
#include "miniapp/modes/repeat.hpp"
#include "miniapp/report/level_tables.hpp"
#include "miniapp/report/records/records.hpp"

namespace keel {
namespace {

enum class FirstGuess { zero, last };
constexpr auto names_of(FirstGuess) {
    return std::array{Named<FirstGuess>{FirstGuess::zero, "zero"},
                      Named<FirstGuess>{FirstGuess::last, "last"}};
}

struct StepOptions {
    int steps = 1;
    FirstGuess start = FirstGuess::zero;
};

class PreparedSolve : public PreparedGrids {
  public:
    using PreparedGrids::PreparedGrids;

  protected:
    void measure(const Setting& setting, Findings& findings) const override {
        const NamedSolver& bottom = grids_.use.solvers.front();
        Multigrid multigrid(setting.hierarchy, grids_.multigrid, bottom.options);
        findings.facts.setup_seconds = setting.setup_seconds();

        const int steps = grids_.use.steps;
        std::vector<SolveRecord> solves;  // step after step, repeat after repeat
        double my_seconds = 0;
        std::vector<std::optional<double>> digits;  // of a solve
        std::vector<double> seconds;                // of a repeat, a step
        std::vector<double> coefficients;           // the same on coefficients
        const auto one = [&](int n) {
            if (n == 0) {
                setting.ledger.clear();
                forget_cycles(multigrid);
            }
            double of_solves = 0, of_coefficients = 0;
            for (int step = 0; step < steps; ++step) {
                const double updated = steps > 1 ? set_step(setting, multigrid, step) : 0.0;
                const bool goes_on = step > 0 && grids_.use.from_last;
                SolveRecord solve =
                    solve_once(setting, multigrid, bottom.name, goes_on ? Guess::any : Guess::zero);
                solve.step = step;
                solve.coefficients_seconds = updated;
                const std::string which = steps > 1 ? fmt::format(", step {}", step) : "";
                setting.site.progress.say(fmt::format("{}{}: {} cycles, {}", numbered(n), which,
                                                      solve.report.cycles, seconds_text(solve.cost.seconds)),
                                          resolved_.warmup + n + 1, resolved_.warmup + resolved_.repeats);
                if (n < 0) continue;
                my_seconds += solve.cost.my_seconds;
                digits.push_back(digits_of(solve.report.residuals));
                findings.facts.graph_replays += static_cast<double>(solve.cost.graph_replays);
                of_solves += solve.cost.seconds;
                of_coefficients += updated;
                const auto repeat = static_cast<std::size_t>(n);
                setting.site.report.record(
                    line_of(steps > 1 ? step_record(repeat, solve) : solve_record(repeat, solve)) +
                    cycle_records(repeat, solve, steps > 1));
                solves.push_back(solve);
            }
            if (n < 0) return;
            seconds.push_back(of_solves / steps);
            coefficients.push_back(of_coefficients / steps);
        };
        const int done =
            repeat(setting.site, {"solves", resolved_.warmup, resolved_.repeats, resolved_.min_seconds},
                   findings, one);
        if (done == 0) return;
        const std::vector<TimerRow> timers = gather_timers(setting.site.comm, setting.ledger, my_seconds,
                                                           done * steps, resolved_.details.ranks);
        const std::optional<AmgFindings> amg = algebraic_findings(multigrid, done * steps);
        findings.seconds = median(seconds);
        findings.facts.coefficients_seconds = median(coefficients);
        findings.parts = parts_of(timers, setting.hierarchy.levels() - 1);
        if (!findings.facts.surrogate())  // whose seconds are those of other bytes
            findings.moved =
                movement_of(timers, static_cast<double>(findings.facts.domain->cells), mean_of(digits));
        findings.merit =
            cells_per_second(findings.facts, findings.seconds, {grids_.multigrid.tolerance, mean_of(digits)},
                             grids_.hierarchy.mixed);
        const auto last_steps = std::span(solves).last(static_cast<std::size_t>(steps));
        setting.site.report.tell(convergence_text(solves.back(), bottom.options) + "\n" +
                                 (steps > 1 ? steps_text(last_steps) + "\n" : "") +
                                 level_report(setting, findings, timers, seconds) +
                                 algebraic_text(amg, bottom.name, setting.hierarchy.levels() - 1));
        setting.site.report.record(timer_records(timers) + records_of_bottom(setting, timers, last_steps) +
                                   algebraic_records(amg, bottom.name) +
                                   scheme_records(resolved_.comm.chooser, setting.schemes));

        setting.site.progress.say("checking");
        check(setting, multigrid, solves, findings.checks);
    }

  private:
    // Of a solve; repeats are alike.
    static std::string records_of_bottom(const Setting& setting, const std::vector<TimerRow>& timers,
                                         std::span<const SolveRecord> steps) {
        const NamedSolver& bottom = setting.grids.use.solvers.front();
        double iterations = 0;
        for (const SolveRecord& step : steps) iterations += step.report.bottom_iterations();
        return bottom_kernel_records(timers, setting.hierarchy.levels() - 1, bottom,
                                     iterations / static_cast<double>(steps.size()));
    }

    void check(const Setting& setting, Multigrid& multigrid, const std::vector<SolveRecord>& solves,
               std::vector<Check>& checks) const {
        Hierarchy& hierarchy = setting.hierarchy;
        const double tolerance = grids_.multigrid.tolerance;
        if (setting.problem.has_exact_solution() && hierarchy.levels() > 1)
            checks.push_back(discretisation_order(hierarchy, multigrid, setting.problem, tolerance));
        checks.push_back(residual_recomputed(hierarchy.level(0), setting.problem, tolerance));
        checks.push_back(problem_unchanged(hierarchy, setting.problem));
        checks.push_back(operator_symmetry(hierarchy));
        checks.push_back(all_converged(
            std::ranges::count_if(solves, [](const auto& solve) { return solve.report.converged(); }),
            static_cast<long>(solves.size())));
        if (resolved_.deterministic) checks.push_back(steps_equal(solves));
    }

    // Of each step, the worst.
    Check steps_equal(const std::vector<SolveRecord>& solves) const {
        Check worst = repeats_equal({});
        for (int step = 0; step < grids_.use.steps; ++step) {
            std::vector<double> norms;
            for (const SolveRecord& solve : solves)
                if (solve.step == step) norms.push_back(solve.u_l2);
            if (const Check of_step = repeats_equal(norms); !of_step.passed) worst = of_step;
        }
        return worst;
    }
};

class SolveMode : public GridMode {
  public:
    std::string name() const override { return "solve"; }
    std::string meaning() const override { return "multigrid"; }
    void add_keys(Table& table) const override {
        Section<StepOptions> s(table, "run", name());
        s.integer("steps", &StepOptions::steps, between(1, 100000),
                  "number of solves in a row, each with coefficients and right-hand side of another time",
                  "steps");
        s.choice("start", &StepOptions::start,
                 "first guess of all steps but the first: zero, or the last solution")
            .expert()
            .needs("run.steps", {}, {"1"});
    }
    void check(Rules& rules, int ranks) const override {
        GridMode::check(rules, ranks);
        check_steps(rules);
    }
    KeyUses keys() const override {
        std::vector<KeyUse> uses = keys_of_grids();
        uses.push_back({"multigrid."});
        return {uses, "plays no part in run.mode = solve; leave it out"};
    }

  protected:
    GridUse use(const Deck& deck) const override {
        const auto options = deck.parameters.mode_options.of<StepOptions>();
        return {.solvers = solvers(deck),
                .steps = options.steps,
                .from_last = options.start == FirstGuess::last,
                .mixes = true};
    }
    std::unique_ptr<PreparedMode> prepare(const Resolved& resolved, const GridSetup& grids) const override {
        return std::make_unique<PreparedSolve>(resolved, grids);
    }

  private:
    static void check_steps(Rules& rules) {
        const Parameters& p = rules.parameters();
        const auto options = p.mode_options.of<StepOptions>();
        const bool changes = p.problem.rhs != Rhs::manufactured && p.problem.rhs != Rhs::point;
        rules.require(
            options.steps == 1 || changes, {"run.steps", "problem.rhs"},
            fmt::format(
                "run.steps = {}: problem.rhs = \"{}\" is the same at all times; choose triangle, wave, "
                "random, zero or linear, or run.steps = 1",
                options.steps, keel::name(p.problem.rhs)));
        const bool forgets = p.multigrid.cycle == Cycle::f && p.multigrid.bottom_box < p.problem.box;
        rules.require(
            options.steps == 1 || options.start == FirstGuess::zero || !forgets,
            {"run.start", "multigrid.cycle"},
            "run.start = \"last\": full multigrid begins from the coarsest grid, whatever u is; choose "
            "multigrid.cycle = \"V\", or run.start = \"zero\"");
    }
};

}  // namespace

std::unique_ptr<Mode> make_solve_mode() {
    return std::make_unique<SolveMode>();
}

}  // namespace keel
