#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "miniapp/deck/text/text.hpp"
#include "miniapp/modes/grids/algebraic.hpp"
#include "miniapp/modes/grids/checks.hpp"
#include "miniapp/modes/grids/full_multigrid/full_multigrid.hpp"
#include "miniapp/modes/grids/repeated_solves.hpp"
#include "miniapp/report/records/records.hpp"

namespace keel {
namespace {

// Solves on one of the judged levels, and keeps what came out of it.
class Judge {
  public:
    Judge(const Setting& setting, Multigrid& multigrid) : setting_(setting), multigrid_(multigrid) {}

    // The exact discrete solution on a level, whose f becomes the problem's own there; then the cycle, but on the finest, which
    // is measured. Without entries in the ledger.
    Accuracy on(int l) {
        const Ledger cycles_only = setting_.ledger;
        Accuracy accuracy = setting_.hierarchy.has(l) ? found_on(l) : Accuracy{.level = l};
        setting_.ledger = cycles_only;
        // Known to those that have the level.
        for (double* const error : {&accuracy.error, &accuracy.exact_error})
            *error = setting_.context.comm.max(std::isfinite(*error) ? *error : HUGE_VAL);
        exact_ = static_cast<int>(setting_.context.comm.max(exact_));
        return accuracy;
    }
    int exact() const { return exact_; }

    // A measured cycle on the finest level; `accuracy` is the worst of all so far.
    SolveRecord cycle(const std::string& solver, Accuracy& accuracy) {
        Level& top = setting_.hierarchy.level(0);
        SolveRecord solve;
        solve.solver = solver;
        SolveReport& report = solve.report;
        solve.cost = measured(setting_.context.comm, setting_.context.backend, setting_.hierarchy,
                              [&] { report.visits = multigrid_.full_cycle(); });
        const Ledger cycles_only = setting_.ledger;
        report.cycles = 1;
        double norm_f = 0;
        top.plain->max_norm(top.f, norm_f);
        const double residual = multigrid_.residual_norm(0) / setting_.context.comm.max(norm_f);
        report.residuals = {1.0, residual};
        report.measured_after = {0, 1};
        solve.u_l2 = l2_norm(top, top.u);
        const double error = error_of(top, setting_.problem, 1);
        // A NaN is the worst, too.
        if (!(error <= accuracy.error)) accuracy.error = error;
        report.outcome = error <= most_error * accuracy.exact_error ? Outcome::converged
                         : std::isfinite(residual)                  ? Outcome::iteration_limit
                                                                    : Outcome::breakdown;
        setting_.ledger = cycles_only;
        return solve;
    }

  private:
    Accuracy found_on(int l) {
        Level& level = setting_.hierarchy.level(l);
        if (l > 0) {
            level.plain->assign(level.f, level.layout.box_cells(), setting_.problem.right_side(1 << l));
            if (setting_.problem.singular()) make_solvable(level);
        }
        exact_ += multigrid_.solve(l).converged() ? 1 : 0;
        Accuracy accuracy{.level = l, .cells = level.layout.cells(), .spacing = level.layout.spacing()};
        accuracy.exact_error = error_of(level, setting_.problem, 1 << l);
        if (l > 0) {
            multigrid_.full_cycle(l);
            accuracy.error = error_of(level, setting_.problem, 1 << l);
        }
        return accuracy;
    }

    const Setting& setting_;
    Multigrid& multigrid_;
    int exact_ = 0;
};

Check accuracy_check(const std::vector<Accuracy>& grids) {
    double worst = 0;
    for (const Accuracy& grid : grids)
        if (!(grid.ratio() <= worst)) worst = grid.ratio();
    return {"discretisation_reached", worst <= most_error, worst,
            fmt::format("<= {} times the error of the exact discrete solution, at h, 2h and 4h", most_error)};
}

// Of the finer refinement; that the coarser one has nearly as much tells it from a lucky error on one grid.
Check order_check(const std::vector<Accuracy>& grids) {
    const std::vector<double> orders = orders_of(grids);
    const bool has_order = orders[0] >= least_extrapolated_order && orders[1] >= least_order_before;
    return {"extrapolated_order", has_order, orders[0],
            fmt::format(">= {} of the cycle's error from 2h to h, and >= {} from 4h to 2h",
                        least_extrapolated_order, least_order_before)};
}

}  // namespace

std::vector<double> orders_of(const std::vector<Accuracy>& grids) {
    std::vector<double> orders;
    for (std::size_t n = 1; n < grids.size(); ++n)
        orders.push_back(std::log2(grids[n].error / grids[n - 1].error));
    return orders;
}

void PreparedFullMultigrid::measure(const Setting& setting, Findings& findings) const {
    const NamedSolver& bottom = grids_.use.solvers.front();
    Hierarchy& hierarchy = setting.hierarchy;
    Multigrid multigrid(hierarchy, grids_.multigrid, bottom.options);
    findings.facts.setup_seconds = setting.setup_seconds();

    setting.context.progress.say("solving for the exact discrete solutions");
    Judge judge(setting, multigrid);
    std::vector<Accuracy> grids;
    for (int l = judged_levels - 1; l >= 0; --l) grids.insert(grids.begin(), judge.on(l));
    const Check residual =
        residual_recomputed(hierarchy.level(0), setting.problem, grids_.multigrid.tolerance);

    std::vector<SolveRecord> cycles;
    SolveRecord last;
    const auto cycle = [&](int) {
        last = judge.cycle(bottom.name, grids.front());
        return timed(last.cost, "one cycle", digits_of(last.report.residuals));
    };
    const auto keep = [&] {
        setting.context.report.record(line_of(solve_record(cycles.size(), last)));
        cycles.push_back(last);
    };
    const auto repeated = repeat_solves(
        setting, findings, {.solve = cycle, .begin = [&] { forget_cycles(multigrid); }, .keep = keep});
    if (!repeated) return;
    const std::optional<AmgFindings> amg = algebraic_findings(multigrid, repeated->done);
    const auto unknowns = static_cast<double>(findings.facts.domain->cells);
    const WorkUnits work = work_units(repeated->timers, unknowns, grids_.domain.dimensions());
    findings.parts = parts_of(repeated->timers, hierarchy.levels() - 1);
    findings.moved = movement_of(repeated->timers, unknowns, repeated->digits);
    findings.merit = cells_per_second(findings.facts, findings.seconds, {{}, repeated->digits});
    findings.merit->name = "full_multigrid.dof_per_second";
    const ReportTable accuracy = accuracy_table(grids_.multigrid, grids, grids_.domain.dimensions());
    setting.context.report.record(accuracy.to_json());
    report_solves(setting, findings, *repeated,
                  {.before = accuracy.print() + cycle_text(grids, work, cycles.back().report,
                                                           grids_.multigrid.tau_extrapolation),
                   .behind = algebraic_text(amg, bottom.name, hierarchy.levels() - 1),
                   .records = algebraic_records(amg, bottom.name)});

    findings.checks.push_back(accuracy_check(grids));
    const bool extrapolates = grids_.multigrid.tau_extrapolation;
    if (extrapolates) findings.checks.push_back(order_check(grids));
    const double most = most_work_units * (extrapolates ? most_of_extrapolation : 1.0);
    findings.checks.push_back({"work_units", work.of_operator <= most, work.of_operator,
                               fmt::format("<= {:g} residual calculations", most)});
    findings.checks.push_back(residual);
    findings.checks.push_back(problem_unchanged(hierarchy, setting.problem));
    findings.checks.push_back(operator_symmetry(hierarchy));
    findings.checks.push_back(all_converged(judge.exact(), judged_levels));
    if (resolved_.deterministic) findings.checks.push_back(repeats_equal(norms_of(cycles)));
}

}  // namespace keel
