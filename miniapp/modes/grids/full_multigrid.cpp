#include "miniapp/modes/grids/full_multigrid.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "kernels/bodies/stencil.hpp"
#include "miniapp/modes/grids/checks.hpp"
#include "miniapp/modes/grids/measured_solves.hpp"
#include "miniapp/report/records/records.hpp"
#include "miniapp/report/tables/level_tables.hpp"
#include "miniapp/report/tables/table.hpp"

namespace keel {
namespace {

// The cycle is judged on the grids of spacing h, 2h and 4h.
constexpr int judged_levels = 3;
// The most that its error may be, over that of the exact discrete solution.
constexpr double most_error = 1.5;
constexpr double most_work_units = 6;
// The residual of an exact discrete solution is at most this, over max|f|, after the cycles below.
constexpr double loosest_exact = 1e-8;
constexpr int most_cycles = 1000;

// The accuracy of a cycle on one grid.
struct Accuracy {
    int level = 0;
    Index cells{};
    double spacing = 0;
    double exact_error = 0;  // the exact discrete solution's, in the L2 norm
    double error = 0;        // the cycle's, the worst where there were several

    double ratio() const { return error / exact_error; }
};

// Solves on one of the judged levels, and keeps what came out of it.
class Judge {
  public:
    Judge(const Setting& setting, Multigrid& multigrid) : setting_(setting), multigrid_(multigrid) {}

    // The exact discrete solution on a level, whose f becomes the problem's own there; then the cycle, but on
    // the finest, which is measured. Without entries in the ledger.
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

// The work of a cycle, in residual calculations of the finest grid, by declared costs: those operations that
// evaluate the operator (smoothing, residuals, the bottom's products), and all of them.
struct WorkUnits {
    double of_operator = 0;
    double of_all = 0;
};

bool evaluates_operator(Op op) {
    return op <= Op::restrict_ || op == Op::bottom_operator;
}

WorkUnits work_units(const std::vector<TimerRow>& timers, double unknowns, std::size_t dimensions) {
    const double of_cell = dimensions == 2 ? Residual<2>::cost.flops : Residual<3>::cost.flops;
    WorkUnits work;
    for (const TimerRow& row : timers) {
        const double units = row.flops / (of_cell * unknowns);
        work.of_all += units;
        if (const auto op = named<Op>(row.op); op && evaluates_operator(*op)) work.of_operator += units;
    }
    return work;
}

Check accuracy_check(const std::vector<Accuracy>& grids, int exact) {
    double worst = 0;
    for (const Accuracy& grid : grids)
        if (!(grid.ratio() <= worst)) worst = grid.ratio();
    const std::string missed =
        exact == judged_levels
            ? ""
            : fmt::format("; {} of {} exact solutions met the tolerance", exact, judged_levels);
    return {"full_multigrid_error", worst <= most_error && exact == judged_levels, worst,
            fmt::format("<= {} times the error of the exact discrete solution, at h, 2h and 4h{}", most_error,
                        missed)};
}

ReportTable accuracy_table(const MultigridOptions& multigrid, const std::vector<Accuracy>& grids,
                           std::size_t dimensions) {
    ReportTable table(
        fmt::format("Full multigrid: error of u after one F-cycle of V({},{}), beside that of the "
                    "exact discrete solution",
                    multigrid.pre, multigrid.post),
        "accuracy");
    for (const Accuracy& grid : grids)
        table.add({{"level", grid.level, "level"},
                   {"cells", grid.cells, "cells", cells_text(grid.cells, dimensions)},
                   {"spacing", grid.spacing, "spacing", Unit::scientific},
                   {"exact_error", grid.exact_error, "exact solution", Unit::scientific},
                   {"error", grid.error, "F-cycle", Unit::scientific},
                   {"ratio", grid.ratio(), "ratio", fmt::format("{:.4f}", grid.ratio())}});
    return table;
}

// Lines below the table: the last residual, bottom visits and work.
std::string cycle_text(const WorkUnits& work, const SolveReport& last) {
    return fmt::format(
               "max|r| / max|f| = {:.5e} after it; {} bottom iterations in {} visits; {} missed "
               "bottom.tolerance\n",
               last.residuals.back(), last.bottom_iterations(), last.visits.size(), last.missed_bottoms()) +
           fmt::format(
               "{:.3f} work units (residual calculations on the finest grid) of operator evaluations, "
               "{:.3f} of all\n",
               work.of_operator, work.of_all);
}

}  // namespace

bool is_full_cycle(const MultigridOptions& multigrid) {
    return multigrid.cycle == Cycle::f && multigrid.max_cycles == 1;
}

void check_full_cycle(Rules& rules) {
    const Parameters& p = rules.parameters();
    const auto allow = [&](bool holds, const std::string& key, const std::string& otherwise) {
        rules.allow(holds, {key, "multigrid.max_cycles", "multigrid.cycle"},
                    otherwise + ", or multigrid.max_cycles = 2 or more");
    };
    allow(p.problem.rhs == Rhs::manufactured, "problem.rhs",
          "one full multigrid cycle is judged by its error, and this solution is not known; choose "
          "manufactured");
    allow(p.multigrid.precision == CyclePrecision::doubled, "multigrid.precision",
          "one full multigrid cycle is judged in double precision; choose double");
    allow(p.multigrid.tolerance <= loosest_exact, "multigrid.tolerance",
          fmt::format("too loose for the exact discrete solutions that one full multigrid cycle is compared "
                      "with; choose at most {:g}",
                      loosest_exact));
    const int widest_bottom = p.problem.box >> judged_levels;
    rules.require(
        p.multigrid.bottom_box <= widest_bottom,
        {"multigrid.bottom_box", "problem.box", "multigrid.max_cycles"},
        fmt::format("multigrid.bottom_box = {}: one full multigrid cycle is judged on grids of spacing h, 2h "
                    "and 4h, each with a coarser one below; choose {}problem.box from {}",
                    p.multigrid.bottom_box,
                    widest_bottom > 0 ? fmt::format("at most {}, or ", widest_bottom) : "",
                    std::int64_t{p.multigrid.bottom_box} << judged_levels));
}

void measure_full_cycle(const Setting& setting, Findings& findings) {
    const NamedSolver& bottom = setting.grids.use.solvers.front();
    Hierarchy& hierarchy = setting.hierarchy;
    MultigridOptions options = setting.grids.multigrid;
    options.max_cycles = most_cycles;
    Multigrid multigrid(hierarchy, options, bottom.options);
    findings.facts.setup_seconds = setting.setup_seconds();

    setting.context.progress.say("solving for the exact discrete solutions");
    Judge judge(setting, multigrid);
    std::vector<Accuracy> grids;
    for (int l = judged_levels - 1; l >= 0; --l) grids.insert(grids.begin(), judge.on(l));
    const Check residual =
        residual_recomputed(hierarchy.level(0), setting.problem, setting.grids.multigrid.tolerance);

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
    const WorkUnits work = work_units(repeated->timers, unknowns, setting.grids.domain.dimensions());
    findings.parts = parts_of(repeated->timers, hierarchy.levels() - 1);
    findings.moved = movement_of(repeated->timers, unknowns, repeated->digits);
    findings.merit = cells_per_second(findings.facts, findings.seconds, {{}, repeated->digits});
    findings.merit->name = "full_multigrid.dof_per_second";
    const ReportTable accuracy =
        accuracy_table(setting.grids.multigrid, grids, setting.grids.domain.dimensions());
    setting.context.report.record(accuracy.to_json());
    report_solves(setting, findings, *repeated,
                  {.before = accuracy.print() + cycle_text(work, cycles.back().report),
                   .behind = algebraic_text(amg, bottom.name, hierarchy.levels() - 1),
                   .records = algebraic_records(amg, bottom.name)});

    findings.checks.push_back(accuracy_check(grids, judge.exact()));
    findings.checks.push_back({"work_units", work.of_operator <= most_work_units, work.of_operator,
                               fmt::format("<= {:g} residual calculations", most_work_units)});
    findings.checks.push_back(residual);
    findings.checks.push_back(problem_unchanged(hierarchy, setting.problem));
    findings.checks.push_back(operator_symmetry(hierarchy));
    if (setting.resolved.deterministic) findings.checks.push_back(repeats_equal(norms_of(cycles)));
}

}  // namespace keel
