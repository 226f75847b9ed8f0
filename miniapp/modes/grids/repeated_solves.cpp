#include "miniapp/modes/grids/repeated_solves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "miniapp/deck/text/text.hpp"
#include "miniapp/report/level_tables.hpp"
#include "miniapp/report/records/records.hpp"

namespace keel {
namespace {

// Time, communication, schemes and bandwidths by level, the bytes that solves move, and the line with the
// median of the solves.
std::string level_report(const Setting& setting, const Findings& findings,
                         const std::vector<TimerRow>& timers, const std::vector<double>& seconds) {
    const RunFacts& facts = findings.facts;
    std::string text = times_text(facts, timers, setting.resolved.details) + "\n" +
                       communication_text(facts, timers) + "\n" +
                       schemes_text(setting.resolved.comm.chooser, setting.schemes,
                                    seconds_of_exchanges(facts, timers), facts.tuning_seconds);
    // Without the device's own times there are no bandwidths.
    if (setting.resolved.gpu_sync == GpuSync::per_operation) text += bandwidths_text(facts, timers) + "\n";
    if (findings.moved) text += movement_text(*findings.moved, facts.triad_bytes_per_second);
    const auto [least, most] = std::ranges::minmax(seconds);
    return text + fmt::format("Solve: median {} of {} (min {}, max {}); set-up {}\n",
                              seconds_text(median(seconds)), seconds.size(), seconds_text(least),
                              seconds_text(most), seconds_text(facts.setup_seconds));
}

}  // namespace

TimedSolve timed(const SolveCost& cost, std::string progress, std::optional<double> digits) {
    return {cost.seconds, cost.my_seconds, cost.graph_replays, std::move(progress), digits};
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
