// run.mode = solve: multigrid, again and again.

#include <fmt/format.h>

#include <algorithm>

#include "miniapp/studies/mode_runs.hpp"

namespace keel {

std::string numbered(int n) {
    return n < 0 ? fmt::format("warm-up {}", -n) : fmt::format("solve {}", n + 1);
}

SolveRecord solve_once(const Setting& setting, Multigrid& multigrid, const std::string& solver) {
    Level& top = setting.hierarchy.level(0);
    SolveRecord solve;
    solve.solver = solver;
    solve.cost =
        measured(setting.comm, setting.backend, setting.hierarchy, [&] { solve.report = multigrid.solve(); });
    const Ledger solves_only = setting.ledger;
    solve.u_l2 = l2_norm(top, top.u);
    setting.ledger = solves_only;  // the norm's reduction is no part of the solve
    return solve;
}

void run_solve(const Setting& setting, Results& results) {
    const Parameters& p = setting.parameters;
    Multigrid multigrid(setting.hierarchy, p.multigrid, p.bottom);
    results.facts.setup_seconds = setting.setup_seconds();

    SolveResults mine;
    double my_seconds = 0;
    std::vector<double> seconds;
    for (int n = -p.run.warmup; n < p.run.repeats; ++n) {
        if (n == 0) setting.ledger.clear();
        const SolveRecord solve = solve_once(setting, multigrid, p.bottom.solver);
        setting.progress(
            fmt::format("{}: {} cycles, {:.4g} s", numbered(n), solve.report.cycles, solve.cost.seconds));
        if (n < 0) continue;
        my_seconds += solve.cost.my_seconds;
        results.facts.graph_replays += static_cast<double>(solve.cost.graph_replays);
        seconds.push_back(solve.cost.seconds);
        mine.solves.push_back(solve);
    }
    mine.timers = gather_timers(setting.comm, setting.ledger, my_seconds, p.run.repeats);
    results.seconds = median(seconds);

    setting.progress("checking");
    results.checks.push_back(residual_recomputed(setting.hierarchy.level(0), p.multigrid.tolerance));
    if (setting.problem.has_exact_solution() && setting.hierarchy.levels() > 1)
        results.checks.push_back(discretisation_order(setting.hierarchy, multigrid, setting.problem));
    results.checks.push_back(operator_symmetry(setting.hierarchy));
    results.checks.push_back(all_converged(
        std::ranges::count_if(mine.solves, [](const auto& solve) { return solve.report.converged; }),
        p.run.repeats));
    results.of_mode = std::move(mine);
}

}  // namespace keel
