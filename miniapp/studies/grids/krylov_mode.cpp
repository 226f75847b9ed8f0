// run.mode = krylov: bottom.solver as solver of the whole problem, on the finest grid.

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "miniapp/studies/mode_runs.hpp"
#include "solvers/krylov/methods.hpp"
#include "solvers/multigrid/level_krylov.hpp"
#include "solvers/multigrid/v_cycle.hpp"

namespace keel {
namespace {

// The norm that the method's tolerance is on: the 2-norm of the residual, in the CG family of the symmetrically
// scaled one.
DiagonalScaling norm_of(const BottomOptions& options) {
    const DiagonalScaling jacobi = method_named(options.solver).scaling;
    return options.scaling == Scaling::jacobi && jacobi == DiagonalScaling::symmetric ? jacobi
                                                                                      : DiagonalScaling::none;
}

}  // namespace

void run_krylov(const Setting& setting, Results& results) {
    const Parameters& p = setting.parameters;
    Level& top = setting.hierarchy.level(0);
    const bool singular = setting.hierarchy.singular();
    std::optional<VCycle> M;
    if (p.run.preconditioner == MainPreconditioner::v_cycle)
        M.emplace(setting.hierarchy, p.multigrid, p.bottom.sweeps);
    const auto krylov = make_krylov(top, singular, p.bottom, M ? &*M : nullptr);
    results.facts.setup_seconds = setting.setup_seconds();

    KrylovResults mine;
    double my_seconds = 0;
    std::vector<double> seconds;
    for (int n = -p.run.warmup; n < p.run.repeats; ++n) {
        if (n == 0) setting.ledger.clear();
        const long v_cycles = M ? M->applications() : 0;
        KrylovRecord solve;
        solve.solver = p.bottom.solver;
        solve.cost = measured(setting.comm, setting.backend, setting.hierarchy, [&] {
            solve.report = krylov->solve(top.u, top.f);
            if (singular) remove_mean(top.bottom_operations, *top.reduction, top.u);
        });
        solve.v_cycles = (M ? M->applications() : 0) - v_cycles;
        setting.progress(fmt::format("{}: {} iterations, {:.4g} s", numbered(n), solve.report.iterations,
                                     solve.cost.seconds));
        if (n < 0) continue;
        my_seconds += solve.cost.my_seconds;
        results.facts.graph_replays += static_cast<double>(solve.cost.graph_replays);
        seconds.push_back(solve.cost.seconds);
        const Ledger solves_only = setting.ledger;
        solve.u_l2 = l2_norm(top, top.u);
        setting.ledger = solves_only;  // the norm's reduction is no part of the solve
        mine.solves.push_back(solve);
    }
    mine.timers = gather_timers(setting.comm, setting.ledger, my_seconds, p.run.repeats);
    results.seconds = median(seconds);

    setting.progress("checking");
    results.checks.push_back(residual_recomputed(top, norm_of(p.bottom), p.bottom.tolerance));
    results.checks.push_back(operator_symmetry(setting.hierarchy));
    if (M && method_named(p.bottom.solver).preconditioning == Preconditioning::symmetric)
        results.checks.push_back(preconditioner_symmetry(setting.hierarchy, *M));
    results.checks.push_back(
        all_converged(std::ranges::count_if(mine.solves, &KrylovRecord::converged), p.run.repeats));
    results.of_mode = std::move(mine);
}

}  // namespace keel
