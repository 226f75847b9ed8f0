#include "miniapp/modes/grids/measured_solves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "miniapp/deck/text/text.hpp"
#include "miniapp/modes/grids/checks.hpp"
#include "miniapp/report/norms.hpp"
#include "miniapp/report/records/kernel_times.hpp"
#include "miniapp/report/records/krylov_record.hpp"
#include "miniapp/report/tables/level_tables.hpp"
#include "miniapp/report/tables/table.hpp"
#include "solvers/krylov/methods.hpp"
#include "solvers/multigrid/algebraic/algebraic_cycle.hpp"

namespace keel {
namespace {

SolveCost counts_of(const Backend& backend, const Hierarchy& hierarchy) {
    SolveCost counts;
    if (const DeviceLog* const log = backend.device_log()) counts.graph_replays = log->total().replays;
    const auto add = [&](const Level& level) {
        if (level.reduction) {
            const Reductions here = level.reduction->count();
            counts.reductions += here.calls;
            counts.reduction_words += here.words;
        }
        if (level.ghosts) counts.exchanges += level.ghosts->count();
        if (level.all_ghosts) counts.exchanges += level.all_ghosts->count();
        if (level.deep_ghosts) counts.exchanges += level.deep_ghosts->count();
    };
    for (int l = 0; l < hierarchy.levels(); ++l) {
        if (const LevelRedistribution* const moved = hierarchy.redistribution(l)) {
            add(moved->before());
            counts.exchanges += moved->runs();
        }
        if (!hierarchy.has(l)) continue;
        add(hierarchy.level(l));
        if (const Level* const single = hierarchy.single(l)) add(*single);
    }
    return counts;
}

}  // namespace

SolveCost measured(const Communicator& comm, const Backend& backend, const Hierarchy& hierarchy,
                   const std::function<void()>& solve) {
    const SolveCost before = counts_of(backend, hierarchy);
    comm.barrier();
    const double start = now();
    solve();
    const double seconds = now() - start;
    const SolveCost after = counts_of(backend, hierarchy);
    return {comm.max(seconds),
            seconds,
            after.reductions - before.reductions,
            after.reduction_words - before.reduction_words,
            after.exchanges - before.exchanges,
            after.graph_replays - before.graph_replays};
}

SolveRecord solve_once(const Setting& setting, Multigrid& multigrid, const std::string& solver, Guess guess) {
    Level& top = setting.hierarchy.level(0);
    SolveRecord solve;
    solve.solver = solver;
    solve.cost = measured(setting.context.comm, setting.context.backend, setting.hierarchy,
                          [&] { solve.report = multigrid.solve(0, guess); });
    const Ledger solves_only = setting.ledger;
    solve.u_l2 = l2_norm(top, top.u);
    setting.ledger = solves_only;  // the norm's reduction is no part of the solve
    return solve;
}

namespace {

// The solves' ledger, and the messages of an update that followed. An update takes no time of a solve.
Ledger with_messages_of(const Ledger& solves, const Ledger& and_update) {
    Ledger all = solves;
    for (std::size_t n = 0; n < op_count; ++n)
        for (int level = 0; level < all.levels(); ++level) {
            const auto op = static_cast<Op>(n);
            all.at(is_reduction(op) ? Op::reduction : Op::send, level).traffic +=
                and_update.at(op, level).traffic - solves.at(op, level).traffic;
        }
    return all;
}

// Coefficients and right-hand side become those of the n-th step. Returns the seconds of the slowest rank on
// coefficients, 0 where they stay.
double set_step(const Setting& setting, Multigrid& multigrid, int n) {
    const Ledger solves_only = setting.ledger;
    const Communicator& comm = setting.context.comm;
    setting.problem.at_step(n);
    double seconds = 0;
    if (setting.problem.drifts()) {
        comm.barrier();
        const double start = now();
        setting.hierarchy.update(setting.problem.operator_formulas(), comm);
        multigrid.update();
        setting.hierarchy.level(0).plain->wait();
        seconds = comm.max(now() - start);
    }
    set_right_side(setting.hierarchy.level(0), setting.problem);
    setting.ledger = with_messages_of(solves_only, setting.ledger);
    return seconds;
}

}  // namespace

std::vector<SolveRecord> solve_steps(const Setting& setting, Multigrid& multigrid, const std::string& solver,
                                     const std::function<void(const SolveRecord&)>& done) {
    const auto [steps, start] = setting.prepared.options<StepOptions>();
    std::vector<SolveRecord> solves;
    for (int step = 0; step < steps; ++step) {
        const double updated = steps > 1 ? set_step(setting, multigrid, step) : 0.0;
        const bool goes_on = step > 0 && start == FirstGuess::last;
        SolveRecord& solve =
            solves.emplace_back(solve_once(setting, multigrid, solver, goes_on ? Guess::any : Guess::zero));
        if (steps > 1) solve.step = step;
        solve.coefficients_seconds = updated;
        done(solve);
    }
    return solves;
}

void say_solved(const Setting& setting, const std::string& which, const SolveRecord& solve, int n, int all) {
    setting.context.progress.say(
        fmt::format("{}{}: {} cycles, {}", which, solve.step ? fmt::format(", step {}", *solve.step) : "",
                    solve.report.cycles, seconds_text(solve.cost.seconds)),
        n, all);
}

void check_steps(Rules& rules) {
    const Parameters& p = rules.parameters();
    const auto options = p.mode_options.of<StepOptions>();
    const bool changes =
        p.problem.rhs != Rhs::manufactured && p.problem.rhs != Rhs::point && p.problem.rhs != Rhs::file;
    rules.require(
        options.steps == 1 || changes, {"run.steps", "problem.rhs"},
        fmt::format("run.steps = {}: problem.rhs = \"{}\" is the same at all times; choose triangle, wave, "
                    "random, zero or linear, or run.steps = 1",
                    options.steps, keel::name(p.problem.rhs)));
    rules.require(options.steps == 1 || options.start == FirstGuess::zero || p.multigrid.cycle == Cycle::v,
                  {"run.start", "multigrid.cycle"},
                  "run.start = \"last\": full multigrid begins from the coarsest grid, whatever u is; choose "
                  "multigrid.cycle = \"V\", or run.start = \"zero\"");
}

std::string outcome_text(const SolveReport& report) {
    if (!report.floor) return name(report.outcome);
    const char* const where = report.residuals.back() <= *report.floor
                                  ? "cycles no longer gain, and rounding alone may leave"
                                  : "cycles no longer gain, far above what rounding may leave:";
    return fmt::format("{}: {} eps |L| max|u| / max|f| = {:.1e}", name(report.outcome), where, *report.floor);
}

namespace {

// "12 converged 9.1e-04 9.3e-04": what the bottom solver did in one visit.
std::string visit_text(const Report& v) {
    std::string text = fmt::format("{} {}", v.iterations, name(v.outcome));
    if (!v.vanished.empty()) text += " of " + v.vanished;
    if (v.restarts > 0) text += fmt::format(" after {} restarts", v.restarts);
    if (v.tested()) text += fmt::format(" {:.1e} {:.1e}", v.residuals.back(), v.true_residual);
    if (v.columns_dropped > 0) text += fmt::format(", {} columns dropped", v.columns_dropped);
    return text;
}

}  // namespace

std::string convergence_text(const SolveRecord& solve, const BottomOptions& bottom) {
    const SolveReport& report = solve.report;
    ReportTable table("Convergence of the last solve: max|f - L u| / max|f|");
    // Full multigrid visits the bottom once per level in its first cycle, a V-cycle once.
    const std::size_t extra = report.visits.size() - static_cast<std::size_t>(report.cycles);
    std::size_t visit = 0;
    for (std::size_t n = 0; n < report.residuals.size(); ++n) {
        std::string factor = "-";
        std::string bottoms;
        if (n > 0) {
            const int cycles = report.measured_after[n] - report.measured_after[n - 1];
            factor =
                fmt::format("{:.4f}", std::pow(report.residuals[n] / report.residuals[n - 1], 1.0 / cycles));
            const std::size_t end = visit + static_cast<std::size_t>(cycles) + (n == 1 ? extra : 0);
            for (; visit < end; ++visit)
                bottoms += (bottoms.empty() ? "" : ", ") + visit_text(report.visits[visit]);
        }
        table.add({{"", report.measured_after[n], "cycle"},
                   {"", report.residuals[n], "residual", Unit::scientific},
                   {"", Json(), "factor", factor},
                   {"", bottoms, "bottom solves (iterations, outcome, residual claimed and true)"}});
    }
    std::string text = table.print();
    if (!report.converged()) text += outcome_text(report) + "\n";
    text += fmt::format(
        "{} bottom iterations in {} visits; {} missed the bottom tolerance by their true |r| / |f|\n",
        report.bottom_iterations(), report.visits.size(), report.missed_bottoms());
    int restarts = 0;
    for (const auto& v : report.visits) restarts += v.restarts;
    return text + restarts_text(restarts, bottom, uses_algebraic(bottom));
}

std::string bottom_kernel_records(const std::vector<TimerRow>& timers, int level, const NamedSolver& solver,
                                  double iterations) {
    if (!method_named(solver.options.solver).is_krylov()) return "";
    return kernel_records(kernel_times(timers, level, PreconditionedBy::blocks), solver.name, iterations);
}

void add_cost(Json& record, const SolveCost& cost, double u_l2) {
    record["reductions"] = cost.reductions;
    record["reduction_words"] = cost.reduction_words;
    record["exchanges"] = cost.exchanges;
    record["u_l2"] = u_l2;
}

Json solve_record(std::size_t repeat, const SolveRecord& solve) {
    Json visits = Json::array();
    for (const Report& v : solve.report.visits) {
        const auto if_tested = [&](double value) {
            return number_or_null(v.tested() ? std::optional(value) : std::nullopt);
        };
        visits.push_back({{"iterations", v.iterations},
                          {"outcome", name(v.outcome)},
                          {"vanished", v.vanished},
                          {"restarts", v.restarts},
                          {"residual", if_tested(v.tested() ? v.residuals.back() : 0)},
                          {"true_residual", if_tested(v.true_residual)},
                          {"met", v.met},
                          {"unscaled_residual", if_tested(v.unscaled_residual)},
                          {"unscaled_met", v.unscaled_met},
                          {"applications", v.counts.applications},
                          {"columns_dropped", v.columns_dropped},
                          {"reductions", v.counts.reductions},
                          {"reduction_words", v.counts.words},
                          {"exchanges", v.counts.exchanges}});
    }
    Json record{{"record", "solve"},
                {"solver", solve.solver},
                {"repeat", repeat},
                {"seconds", solve.cost.seconds},
                {"converged", solve.report.converged()},
                {"outcome", name(solve.report.outcome)},
                {"floor", number_or_null(solve.report.floor)},
                {"norm", max_norm_quotient},
                {"cycles", solve.report.cycles},
                {"residuals", solve.report.residuals},
                {"measured_after", solve.report.measured_after},
                {"bottom", visits},
                {"bottom_iterations", solve.report.bottom_iterations()},
                {"missed_bottoms", solve.report.missed_bottoms()}};
    add_cost(record, solve.cost, solve.u_l2);
    if (!solve.step) return record;
    record["record"] = "step";
    record["step"] = *solve.step;
    record["coefficients_seconds"] = solve.coefficients_seconds;
    return record;
}

std::string steps_text(std::span<const SolveRecord> steps) {
    ReportTable table("Steps of the last repeat");
    for (const SolveRecord& step : steps)
        table.add({{"", *step.step, "step"},
                   {"", step.coefficients_seconds, "coefficients", Unit::seconds},
                   {"", step.cost.seconds, "solve", Unit::seconds},
                   {"", step.report.residuals.front(), "residual\nbefore", Unit::scientific},
                   {"", step.report.residuals.back(), "residual\nafter", Unit::scientific},
                   {"", step.report.cycles, "cycles"},
                   {"", step.report.bottom_iterations(), "bottom\niterations"},
                   {"", name(step.report.outcome), "outcome"}});
    return table.print();
}

namespace {

// Time, communication, schemes and bandwidths by level, the bytes that solves move, and the line with the
// median of what was timed.
std::string level_report(const Setting& setting, const Findings& findings, const RepeatedSolves& solves,
                         const TimeVerdict& verdict, const char* timed, double visits) {
    const RunFacts& facts = findings.facts;
    const std::vector<TimerRow>& timers = solves.timers;
    const std::vector<double>& seconds = solves.seconds;
    std::string text = times_text(facts, timers, setting.resolved.details) + verdict.text + "\n" +
                       communication_text(facts, timers) +
                       visits_text(timers, facts.levels.size() - 1, visits) + "\n" +
                       schemes_text(setting.resolved.comm.chooser, setting.schemes, facts.tuning_seconds);
    // Without the device's own times there are no bandwidths.
    if (setting.resolved.gpu_sync == GpuSync::per_operation) text += bandwidths_text(facts, timers) + "\n";
    if (findings.moved) text += movement_text(*findings.moved, facts.triad_bytes_per_second);
    const auto [least, most] = std::ranges::minmax(seconds);
    return text + fmt::format("{}: median {} of {} (min {}, max {}); set-up {}\n", timed,
                              seconds_text(median(seconds)), seconds.size(), seconds_text(least),
                              seconds_text(most), seconds_text(facts.setup_seconds));
}

}  // namespace

TimedSolve timed(const SolveCost& cost, std::string progress, std::optional<double> digits) {
    return {cost.seconds, cost.my_seconds, cost.graph_replays, std::move(progress), digits};
}

void report_solves(const Setting& setting, const Findings& findings, const RepeatedSolves& solves,
                   const SolvesReport& report) {
    const TimeVerdict verdict =
        verdict_on(setting.resolved, findings.facts, setting.schemes, solves.timers, solves.solves);
    setting.context.report.tell(
        report.before + "\n" + level_report(setting, findings, solves, verdict, report.timed, report.visits) +
        report.behind);
    setting.context.report.record(timer_records(solves.timers) + verdict.record + report.records +
                                  scheme_records(setting.resolved.comm.chooser, setting.schemes));
    setting.context.progress.say("checking");
}

std::optional<AmgFindings> algebraic_findings(Multigrid& multigrid, int solves) {
    const AlgebraicCycle* const cycle = multigrid.algebraic();
    if (!cycle) return {};
    const Communicator& comm = cycle->comm();
    AmgFindings amg = findings_of(comm, cycle->hierarchy());
    amg.setup_seconds = comm.max(cycle->setup_seconds());
    amg.setup = gather_timers(comm, cycle->setup(), cycle->setup_seconds(), 1, false);
    // Seconds of a cycle that no clock sees are among the other seconds of all levels.
    amg.solves = gather_timers(comm, cycle->cycles(), 0, solves, false);
    std::erase_if(amg.solves, [](const TimerRow& row) { return row.op == "other"; });
    count_visits(amg, comm, cycle->visits(), solves);
    return amg;
}

void forget_cycles(Multigrid& multigrid) {
    if (AlgebraicCycle* const cycle = multigrid.algebraic()) cycle->forget_cycles();
}

std::string algebraic_text(const std::optional<AmgFindings>& amg, const std::string& solver,
                           int bottom_level) {
    if (!amg) return "";
    return fmt::format("\nUnder level {}, whose solver is {}; its level 0 is that level.\n", bottom_level,
                       solver) +
           amg_text(*amg);
}

std::string algebraic_records(const std::optional<AmgFindings>& amg, const std::string& solver,
                              bool several) {
    if (!amg) return "";
    const std::string before = several ? solver + ": " : "";
    return amg_records(*amg, solver, before + "amg.setup", before + "amg.cycles");
}

}  // namespace keel
