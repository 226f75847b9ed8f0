#include "miniapp/modes/grids/repeated_solves.hpp"

#include <fmt/format.h>

#include <utility>

#include "miniapp/deck/text/text.hpp"
#include "miniapp/modes/repeat.hpp"
#include "miniapp/report/records/records.hpp"

namespace keel {

TimedSolve timed(const SolveCost& cost, std::string progress, std::optional<double> digits) {
    return {cost.seconds, cost.my_seconds, cost.graph_replays, std::move(progress), digits};
}

std::optional<RepeatedSolves> repeat_solves(const Setting& setting, Findings& findings,
                                            const RepeatActions& actions) {
    const Resolved& resolved = setting.resolved;
    RepeatedSolves all;
    double my_seconds = 0;
    std::vector<std::optional<double>> digits;
    const auto one = [&](int n) {
        if (n == 0) {
            setting.ledger.clear();
            actions.begin();
        }
        const TimedSolve solve = actions.solve(n);
        if (!solve.progress.empty())
            setting.context.progress.say(
                fmt::format("{}: {}, {}", numbered(n), solve.progress, seconds_text(solve.seconds)),
                resolved.warmup + n + 1, resolved.warmup + resolved.repeats);
        if (n < 0) return;
        my_seconds += solve.my_seconds;
        digits.push_back(solve.digits);
        findings.facts.graph_replays += static_cast<double>(solve.graph_replays);
        all.seconds.push_back(solve.seconds);
        const Ledger solves_only = setting.ledger;
        actions.keep();
        setting.ledger = solves_only;
    };
    all.done = repeat(setting.context, {actions.what, resolved.warmup, resolved.repeats}, findings, one);
    if (all.done == 0) return {};
    all.digits = mean_of(digits);
    all.timers = gather_timers(setting.context.comm, setting.ledger, my_seconds, all.done * actions.solves,
                               resolved.details);
    findings.seconds = median(all.seconds);
    return all;
}

void report_solves(const Setting& setting, const Findings& findings, const RepeatedSolves& solves,
                   const SolvesReport& report) {
    setting.context.report.tell(report.before + "\n" +
                                level_report(setting, findings, solves.timers, solves.seconds) +
                                report.behind);
    setting.context.report.record(timer_records(solves.timers) + report.records +
                                  scheme_records(setting.resolved.comm.chooser, setting.schemes));
    setting.context.progress.say("checking");
}

}  // namespace keel
