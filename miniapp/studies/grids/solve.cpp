// run.mode = solve: multigrid, again and again.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "miniapp/deck/text.hpp"
#include "miniapp/report/level_tables.hpp"
#include "miniapp/report/records.hpp"
#include "miniapp/studies/grids/checks.hpp"
#include "miniapp/studies/grids/grid_studies.hpp"
#include "miniapp/studies/grids/solve_cost.hpp"
#include "miniapp/studies/repeat.hpp"

namespace keel {
namespace {

class PreparedSolve : public PreparedGrids {
  public:
    using PreparedGrids::PreparedGrids;

  protected:
    void measure(const Setting& setting, Findings& findings) const override {
        const NamedSolver& bottom = grids_.use.solvers.front();
        Multigrid multigrid(setting.hierarchy, grids_.multigrid, bottom.options);
        findings.facts.setup_seconds = setting.setup_seconds();

        std::vector<SolveRecord> solves;
        double my_seconds = 0;
        std::vector<double> seconds;
        const auto one = [&](int n) {
            if (n == 0) setting.ledger.clear();
            const SolveRecord solve = solve_once(setting, multigrid, bottom.name);
            setting.site.progress.say(fmt::format("{}: {} cycles, {}", numbered(n), solve.report.cycles,
                                                  seconds_text(solve.cost.seconds)),
                                      resolved_.warmup + n + 1, resolved_.warmup + resolved_.repeats);
            if (n < 0) return;
            my_seconds += solve.cost.my_seconds;
            findings.facts.graph_replays += static_cast<double>(solve.cost.graph_replays);
            seconds.push_back(solve.cost.seconds);
            setting.site.report.record(line_of(solve_record(solves.size(), solve)));
            solves.push_back(solve);
        };
        const int done =
            repeat(setting.site, {"solves", resolved_.warmup, resolved_.repeats, resolved_.min_seconds},
                   findings, one);
        if (done == 0) return;
        const std::vector<TimerRow> timers =
            gather_timers(setting.site.comm, setting.ledger, my_seconds, done);
        findings.seconds = median(seconds);
        findings.parts = parts_of(timers, setting.hierarchy.levels() - 1);
        findings.merit = cells_per_second(findings.facts, findings.seconds);
        setting.site.report.tell(convergence_text(solves.back()) + "\n" +
                                 level_report(setting, findings.facts, timers, seconds));
        setting.site.report.record(timer_records(timers) +
                                   scheme_records(resolved_.comm.chooser, setting.schemes));

        setting.site.progress.say("checking");
        check(setting, multigrid, solves, findings.checks);
    }

  private:
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
        if (resolved_.deterministic) checks.push_back(repeats_equal(norms_of(solves)));
    }
};

class SolveStudy : public GridStudy {
  public:
    std::string name() const override { return "solve"; }
    std::string meaning() const override { return "multigrid"; }
    KeyUses keys() const override {
        std::vector<KeyUse> uses = keys_of_grids();
        uses.push_back({"multigrid."});
        return {uses, "plays no part in run.mode = solve; leave it out"};
    }

  protected:
    GridUse use(const Deck& deck) const override { return {.solvers = solvers(deck)}; }
    std::unique_ptr<PreparedStudy> prepare(const Resolved& resolved, const GridSetup& grids) const override {
        return std::make_unique<PreparedSolve>(resolved, grids);
    }
};

}  // namespace

std::unique_ptr<Study> make_solve_study() {
    return std::make_unique<SolveStudy>();
}

}  // namespace keel
