// run.mode = survey: multigrid with one bottom solver after the other, round after round.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "miniapp/deck/section.hpp"
#include "miniapp/deck/text/text.hpp"
#include "miniapp/modes/grids/checks.hpp"
#include "miniapp/modes/grids/measured_solves.hpp"
#include "miniapp/report/norms.hpp"
#include "miniapp/report/tables/level_tables.hpp"
#include "miniapp/report/tables/table.hpp"
#include "miniapp/setup/rules/solver_rules.hpp"
#include "solvers/krylov/methods.hpp"

namespace keel {
namespace {

struct SurveyOptions {
    std::vector<std::string> survey;  // "NAME KEY=VALUE ..."; none: all methods
};

// A bottom solver with objects of its own, and the solves with it. Only the hierarchy is shared, and every
// solve starts from f and u = 0.
struct SurveyRow {
    std::string solver;
    std::unique_ptr<Multigrid> multigrid;
    Ledger ledger;  // its measured solves, as the following
    double my_seconds = 0;
    std::vector<SolveRecord> solves = {};            // one a round; of several time steps the sum
    std::vector<std::optional<double>> gained = {};  // digits of each step
    std::vector<TimerRow> timers = {};
    std::optional<AmgFindings> amg = {};

    bool converged() const {  // in every round
        return std::ranges::all_of(solves, [](const auto& solve) { return solve.report.converged(); });
    }
    // Mean of the solves; nothing if a solve gained none.
    std::optional<double> digits() const { return mean_of(gained); }
    bool compares() const { return converged() && digits(); }
    std::vector<double> seconds() const {
        std::vector<double> seconds;
        for (const SolveRecord& solve : solves) seconds.push_back(solve.cost.seconds);
        return seconds;
    }
};

using SurveyRows = std::vector<SurveyRow>;  // the baseline first

// The steps of a round as one solve: the outcome, residuals and solution are those of the last step, or of
// the first that did not converge.
SolveRecord sum_of(const std::vector<SolveRecord>& steps) {
    const auto failed =
        std::ranges::find_if(steps, [](const auto& step) { return !step.report.converged(); });
    SolveRecord sum = failed == steps.end() ? steps.back() : *failed;
    sum.cost = {};
    sum.report.cycles = 0;
    sum.report.visits.clear();
    for (const auto& [solver, report, cost, u_l2, step, coefficients] : steps) {
        sum.cost.seconds += cost.seconds;
        sum.cost.my_seconds += cost.my_seconds;
        sum.cost.reductions += cost.reductions;
        sum.cost.reduction_words += cost.reduction_words;
        sum.cost.exchanges += cost.exchanges;
        sum.report.cycles += report.cycles;
        sum.report.visits.insert(sum.report.visits.end(), report.visits.begin(), report.visits.end());
    }
    return sum;
}

// Median seconds of one over those of another; nothing unless both did work and converged.
std::optional<double> speed_up(const SurveyRow& over, const SurveyRow& row) {
    if (!row.compares() || !over.compares()) return {};
    return median(over.seconds()) / median(row.seconds());
}

// Numbers of the last round, which are those of every round unless sums differ in their last bits.
Row survey_row(const SurveyRows& rows, const SurveyRow& row, int levels, int steps, const RunFacts& facts) {
    const std::vector<double> seconds = row.seconds();
    const SolveRecord& last = row.solves.back();
    const SolveReport& report = last.report;
    const Movement moved =
        movement_of(row.timers, static_cast<double>(facts.domain->cells) * steps, row.digits());
    const bool verified =
        std::ranges::any_of(report.visits, [](const Report& visit) { return visit.tested(); });
    const std::optional<double> times = speed_up(rows.front(), row);
    const auto count = [](const char* field, long value, const char* heading) {
        return Cell(field, value, heading, Unit::none);
    };
    return {{"solver", row.solver, "solver"},
            {"converged", row.converged()},
            {"outcome", name(report.outcome)},
            count("cycles", report.cycles, "V-cycles"),
            count("bottom_iterations", report.bottom_iterations(), "iterations"),
            count("reductions", last.cost.reductions, "all-reduces"),
            count("reduction_words", last.cost.reduction_words, "words"),
            count("exchanges", last.cost.exchanges, "exchanges"),
            {"missed_bottoms", report.missed_bottoms(), "missed",
             verified ? std::to_string(report.missed_bottoms()) : "-"},
            {"seconds_min", std::ranges::min(seconds), "time\nmin", Unit::seconds},
            {"seconds_median", median(seconds), "time\nmedian", Unit::seconds},
            {"parts", parts_json(parts_of(row.timers, levels - 1))},
            {"moved", moved_json(moved, facts.triad_bytes_per_second)},
            {"baseline", rows.front().solver},
            {"speed_up", number_or_null(times), "time\nspeed-up",
             !row.converged() ? "failed"
             : times          ? fmt::format("{:.2f}", *times)
                              : "-"},
            {"u_l2", last.u_l2}};
}

ReportTable survey_table(const SurveyRows& rows, int levels, int steps, const RunFacts& facts) {
    const std::string each = steps > 1 ? fmt::format("{} time steps", steps) : "one solve";
    ReportTable table(fmt::format("Survey: {}, {} with each bottom solver a round; {} of the last round",
                                  counted(static_cast<long>(rows.front().solves.size()), "round"), each,
                                  steps > 1 ? "sums" : "counts"),
                      "survey");
    for (const SurveyRow& row : rows) table.add(survey_row(rows, row, levels, steps, facts));
    return table;
}

// Lines below the table: who took no part, who failed, and what columns mean.
std::string survey_notes(const SurveyRows& rows, std::span<const std::string> left_out) {
    std::string text;
    for (const std::string& line : left_out) text += line + "\n";
    for (const auto& row : rows)
        if (!row.converged())
            text += fmt::format("{} failed: max|f - L u| / max|f| = {:.1e} after {} cycles, {}\n", row.solver,
                                row.solves.back().report.residuals.back(), row.solves.back().report.cycles,
                                outcome_text(row.solves.back().report));
    return text +
           fmt::format(
               "missed: bottom solves whose true |r| / |f|, unscaled 2-norms, missed bottom.tolerance\n"
               "speed-up: median seconds of {} over those of the row\n",
               rows.front().solver);
}

// "NAME KEY=VALUE ..." as words for read_deck(), and as the solver's name: with single blanks, and without
// iterations that are given, with which it is no other one.
std::vector<std::string> overrides_of(const std::string& entry, std::string& name) {
    std::istringstream stream(entry);
    std::vector<std::string> overrides;
    for (std::string word; stream >> word;) {
        if (!word.starts_with("assumed_iterations=")) name += (name.empty() ? "" : " ") + word;
        overrides.push_back((overrides.empty() ? "bottom.solver=" : "bottom.") + word);
    }
    return overrides;
}

// Says what is wrong with an entry of run.survey.
struct Complaint {
    std::string entry;
    std::string what;
};

// The solvers that run.survey names, with this deck's [bottom] but for keys of their own; the first is the
// baseline.
std::vector<NamedSolver> contestants(const Deck& deck, std::vector<Complaint>& complaints) {
    const auto options = deck.parameters.mode_options.of<SurveyOptions>();
    std::vector<NamedSolver> all;
    const Table& table = *deck.table;
    for (const std::string& entry : options.survey.empty() ? method_names() : options.survey) {
        const auto complain = [&](const std::string& what) { complaints.push_back({entry, what}); };
        std::string name;
        const std::vector<std::string> overrides = overrides_of(entry, name);
        if (overrides.empty()) {
            complain(fmt::format("names no solver; choose {}", fmt::join(method_names(), ", ")));
            continue;
        }
        const Deck own = read_deck(table, {}, overrides);
        for (const std::string& error : own.errors) complain(error.substr(error.find(": ") + 2));
        if (std::ranges::find(all, name, &NamedSolver::name) != all.end())
            complain("given twice; give it once");
        Parameters merged = deck.parameters;
        for (const Key& key : table.keys())
            if (own.is_set(key.full_name())) key.assign(key.value(own.parameters), merged);
        const std::array merged_alone{merged};
        for (const Key& key : table.keys())
            if (own.is_set(key.full_name()))
                if (const std::string reason = why_idle(table, key, {{{"bottom."}}, ""}, merged_alone);
                    !reason.empty())
                    complain(fmt::format("{}: {}; leave it out", key.full_name(), reason));
        all.push_back({name, merged.bottom});
    }
    return all;
}

class SurveyMode : public HierarchyMode {
  public:
    std::string name() const override { return "survey"; }
    std::string meaning() const override { return "multigrid with one bottom solver after the other"; }

    void add_keys(Table& table) const override {
        Section<SurveyOptions> s(table, "run", name());
        s.add("survey", list_kind(), &SurveyOptions::survey,
              "bottom solvers, as \"ca_cg s=8\"; speed-ups are over the first; [] = all");
    }
    KeyUses keys() const override {
        std::vector<KeyUse> uses = keys_of_grids();
        uses.push_back({"multigrid."});
        uses.insert(
            uses.begin(),
            {"bottom.solver", {}, "run.mode = survey takes its solvers from run.survey; leave it out"});
        return {uses, "plays no part in run.mode = survey; leave it out"};
    }
    std::vector<NamedSolver> solvers(const Deck& deck) const override {
        std::vector<Complaint> ignored;
        return contestants(deck, ignored);
    }
    void check(Rules& rules, int ranks) const override {
        std::vector<Complaint> complaints;
        contestants(rules.deck(), complaints);
        for (const auto& [entry, what] : complaints)
            rules.require(false, {"run.survey"}, fmt::format("run.survey: {}: {}", json_text(entry), what));
        if (complaints.empty()) GridMode::check(rules, ranks);
        check_steps(rules);
    }

  protected:
    // With run.deterministic, solvers that depend on the number of ranks are left out; the baseline never is.
    GridUse use(const Deck& deck) const override {
        GridUse use{.solvers = {}, .mixes = true};
        for (const NamedSolver& solver : solvers(deck)) {
            const std::string reason = why_not_deterministic(deck.parameters, use, solver.options);
            if (reason.empty() || use.solvers.empty())
                use.solvers.push_back(solver);
            else
                use.left_out.push_back(solver.name + " left out: " + reason);
        }
        return use;
    }
    void measure(const Setting& setting, Findings& findings) const override {
        SurveyRows rows;
        for (const auto& [solver, bottom] : setting.grids.use.solvers)
            rows.push_back({solver,
                            std::make_unique<Multigrid>(setting.hierarchy, setting.grids.multigrid, bottom),
                            Ledger(setting.hierarchy.levels())});
        findings.facts.setup_seconds = setting.setup_seconds();
        // The worst of the solves that claim to have converged.
        Check residual{"residual_recomputed", true, 0.0,
                       fmt::format("<= multigrid.tolerance, of {}", max_norm_quotient)};
        if (!take_turns(setting, rows, residual, findings)) return;
        // The last solvers had no turn if a signal ended the first round.
        std::erase_if(rows, [](const SurveyRow& row) { return row.solves.empty(); });
        for (SurveyRow& row : rows) {
            const auto solves = static_cast<int>(row.solves.size());
            row.timers = gather_timers(setting.context.comm, row.ledger, row.my_seconds, solves,
                                       setting.resolved.details);
            row.amg = algebraic_findings(*row.multigrid, solves);
        }
        const SurveyRow& best = fastest(rows);
        findings.seconds = median(best.seconds()) / setting.prepared.options<StepOptions>().steps;
        findings.merit = cells_per_second(findings.facts, findings.seconds,
                                          {setting.grids.multigrid.tolerance, best.digits()},
                                          setting.grids.hierarchy.mixed);
        tell(setting, rows, best, findings.facts);

        setting.context.progress.say("checking");
        findings.checks.push_back(residual);
        check_rounds(setting, rows, findings.checks);
    }

  private:
    // Solves round after round, by one solver after the other; whether one was measured.
    static bool take_turns(const Setting& setting, SurveyRows& rows, Check& residual, Findings& findings) {
        const auto count = static_cast<int>(rows.size());
        const Repeats turns{"solves", setting.resolved.warmup * count, setting.resolved.repeats * count};
        const auto one = [&](int turn) {
            const int from_first = turn + turns.warmup;
            const auto c = static_cast<std::size_t>(from_first % count);
            const int round = from_first / count - setting.resolved.warmup;
            SurveyRow& row = rows[c];
            setting.ledger.clear();
            if (row.solves.empty()) forget_cycles(*row.multigrid);
            const auto done = [&](const SolveRecord& solve) {
                say_solved(setting, numbered(round) + " with " + row.solver, solve, from_first + 1,
                           turns.warmup + turns.counted);
                if (round < 0) return;
                findings.facts.graph_replays += static_cast<double>(solve.cost.graph_replays);
                setting.context.report.record(line_of(solve_record(row.solves.size(), solve)));
                row.gained.push_back(digits_of(solve.report.residuals));
                if (!solve.report.converged()) return;
                const Ledger solves_only = setting.ledger;
                const Check again = residual_recomputed(setting.hierarchy.level(0), setting.problem,
                                                        setting.grids.multigrid.tolerance);
                setting.ledger = solves_only;
                residual.passed = residual.passed && again.passed;
                residual.value = std::max(residual.value, again.value);
            };
            const SolveRecord sum = sum_of(solve_steps(setting, *row.multigrid, row.solver, done));
            if (round < 0) return;
            row.ledger += setting.ledger;
            row.my_seconds += sum.cost.my_seconds;
            row.solves.push_back(sum);
        };
        return repeat(setting.context, turns, findings, one) > 0;
    }

    static const SurveyRow& fastest(const SurveyRows& rows) {
        const SurveyRow* best = &rows.front();
        for (const SurveyRow& row : rows) {
            const bool first = !best->compares() && row.compares();
            if (first || speed_up(*best, row).value_or(0) > 1) best = &row;
        }
        return *best;
    }

    static void check_rounds(const Setting& setting, const SurveyRows& rows, std::vector<Check>& checks) {
        checks.push_back(problem_unchanged(setting.hierarchy, setting.problem));
        checks.push_back(operator_symmetry(setting.hierarchy));
        const auto& baseline = rows.front().solves;
        Check converged = all_converged(
            std::ranges::count_if(baseline, [](const auto& solve) { return solve.report.converged(); }),
            static_cast<long>(baseline.size()));
        converged.name = "baseline_converged";
        checks.push_back(converged);
        if (!setting.resolved.deterministic) return;
        Check equal = repeats_equal({});
        for (const SurveyRow& row : rows)
            if (const Check of_row = repeats_equal(norms_of(row.solves)); !of_row.passed) equal = of_row;
        checks.push_back(equal);
    }

    static void tell(const Setting& setting, const SurveyRows& rows, const SurveyRow& best,
                     const RunFacts& facts) {
        const int levels = setting.hierarchy.levels();
        const int steps = setting.prepared.options<StepOptions>().steps;
        const ReportTable table = survey_table(rows, levels, steps, facts);
        std::string algebraic;
        std::string records = table.to_json();
        for (const SurveyRow& row : rows) {
            algebraic += algebraic_text(row.amg, row.solver, levels - 1);
            records += timer_records(row.timers, row.solver);
            const auto solver = std::ranges::find(setting.grids.use.solvers, row.solver, &NamedSolver::name);
            records += bottom_kernel_records(row.timers, levels - 1, *solver,
                                             row.solves.back().report.bottom_iterations()) +
                       algebraic_records(row.amg, row.solver, true);
        }
        const TimeVerdict verdict = verdict_on(setting.resolved, facts, setting.schemes, best.timers,
                                               static_cast<int>(best.solves.size()), best.solver);
        setting.context.report.tell(
            table.print() + survey_notes(rows, setting.grids.use.left_out) + verdict.text + "\n" +
            schemes_text(setting.resolved.comm.chooser, setting.schemes, facts.tuning_seconds) + algebraic);
        setting.context.report.record(records + verdict.record +
                                      scheme_records(setting.resolved.comm.chooser, setting.schemes));
    }
};

}  // namespace

std::unique_ptr<Mode> make_survey_mode() {
    return std::make_unique<SurveyMode>();
}

}  // namespace keel
