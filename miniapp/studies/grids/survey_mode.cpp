// run.mode = survey: multigrid with one bottom solver after the other, round after round.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "miniapp/studies/mode_runs.hpp"

namespace keel {
namespace {

// A bottom solver with objects of its own. Only the hierarchy is shared, and every solve starts from f and u = 0.
struct Contender {
    std::unique_ptr<Multigrid> multigrid;
    Ledger ledger;  // of its measured solves
    double my_seconds = 0;
};

}  // namespace

bool SurveyResults::Row::converged() const {
    return std::ranges::all_of(solves, [](const auto& solve) { return solve.report.converged; });
}

std::vector<double> SurveyResults::Row::seconds() const {
    std::vector<double> seconds;
    for (const SolveRecord& solve : solves) seconds.push_back(solve.cost.seconds);
    return seconds;
}

std::optional<double> SurveyResults::speed_up(const Row& row) const {
    if (!row.converged() || !rows.front().converged()) return {};
    return median(rows.front().seconds()) / median(row.seconds());
}

void run_survey(const Setting& setting, Results& results) {
    const Parameters& p = setting.parameters;
    Hierarchy& hierarchy = setting.hierarchy;
    SurveyResults mine;
    std::vector<Contender> contenders;
    for (const auto& [name, bottom] : p.contestants) {
        mine.rows.push_back({name, {}, {}});
        contenders.push_back(
            {std::make_unique<Multigrid>(hierarchy, p.multigrid, bottom), Ledger(hierarchy.levels())});
    }
    results.facts.setup_seconds = setting.setup_seconds();

    // The worst of the solves that claim to have converged.
    Check residual{"residual_recomputed", true, 0.0, "<= multigrid.tolerance"};
    for (int n = -p.run.warmup; n < p.run.repeats; ++n)
        for (std::size_t c = 0; c < contenders.size(); ++c) {
            SurveyResults::Row& row = mine.rows[c];
            setting.ledger.clear();
            const SolveRecord solve = solve_once(setting, *contenders[c].multigrid, row.solver);
            setting.progress(fmt::format("{} with {}: {} cycles, {:.4g} s", numbered(n), row.solver,
                                         solve.report.cycles, solve.cost.seconds));
            if (n < 0) continue;
            contenders[c].ledger += setting.ledger;
            contenders[c].my_seconds += solve.cost.my_seconds;
            results.facts.graph_replays += static_cast<double>(solve.cost.graph_replays);
            row.solves.push_back(solve);
            if (!solve.report.converged) continue;
            const Check again = residual_recomputed(hierarchy.level(0), p.multigrid.tolerance);
            residual.passed = residual.passed && again.passed;
            residual.value = std::max(residual.value, again.value);
        }
    double fastest = std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < contenders.size(); ++c) {
        SurveyResults::Row& row = mine.rows[c];
        row.timers =
            gather_timers(setting.comm, contenders[c].ledger, contenders[c].my_seconds, p.run.repeats);
        if (row.converged()) fastest = std::min(fastest, median(row.seconds()));
    }
    results.seconds = std::isfinite(fastest) ? fastest : 0.0;

    setting.progress("checking");
    results.checks.push_back(residual);
    results.checks.push_back(operator_symmetry(hierarchy));
    const auto& baseline = mine.rows.front().solves;
    Check converged = all_converged(
        std::ranges::count_if(baseline, [](const auto& solve) { return solve.report.converged; }),
        p.run.repeats);
    converged.name = "baseline_converged";
    results.checks.push_back(converged);
    results.of_mode = std::move(mine);
}

}  // namespace keel
