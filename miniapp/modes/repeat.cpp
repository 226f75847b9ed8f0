#include "miniapp/modes/repeat.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "miniapp/deck/text/text.hpp"

namespace keel {

Interruption Ending::asked(const Communicator& comm) {
    const double time = now();
    if (last_asked_ > 0) longest_ = std::max(longest_, time - last_asked_);
    last_asked_ = time;
    const bool late = comm.rank() == 0 && time + 2 * longest_ > deadline_;
    const Interruption here = interrupt_noted() ? Interruption::signal
                              : late            ? Interruption::time_limit
                                                : Interruption::none;
    // A signal tells more than the time: the greater.
    return static_cast<Interruption>(static_cast<int>(comm.max(static_cast<int>(here))));
}

std::vector<SchemeTable> choose_schemes(const Resolved& resolved, const RunContext& context,
                                        const std::function<std::vector<SchemeTable>()>& compare,
                                        const MakeTrial& make_trial, Findings& findings) {
    std::vector<SchemeTable> tables;
    if (schemes_matter(resolved)) {
        context.progress.say("comparing communication schemes");
        tables = compare();
    }
    const Communication& how = resolved.comm;
    if (how.chooser != SchemeChooser::tuned) choose_schemes(how, context.comm, tables);
    if (tries_schemes(how)) {
        try_transports(how, tables);
        const Tried tried =
            time_schemes(context.comm, {}, make_trial, tables, [] { return Interruption::none; });
        findings.facts.tuning_seconds = tried.seconds;
        findings.checks.push_back(tried.check);
        choose_schemes(how, context.comm, tables);
    }
    return tables;
}

int repeat(const RunContext& context, const Repeats& repeats, Findings& findings,
           const std::function<void(int n)>& action) {
    Tally tally{repeats.what, 0, repeats.counted};
    for (int n = -repeats.warmup; n < repeats.counted || repeats.more(); ++n) {
        findings.interruption = context.ending.asked(context.comm);
        if (findings.interrupted()) break;
        action(n);
        if (n >= 0) tally.all = std::max(tally.all, ++tally.done);
    }
    findings.tallies.push_back(tally);
    return tally.done;
}

std::string numbered(int n) {
    return n < 0 ? fmt::format("warm-up {}", -n) : fmt::format("solve {}", n + 1);
}

std::optional<RepeatedSolves> repeat_solves(const Resolved& resolved, const RunContext& context,
                                            Ledger& ledger, Findings& findings,
                                            const RepeatActions& actions) {
    RepeatedSolves all;
    double my_seconds = 0;
    std::vector<std::optional<double>> digits;
    const auto one = [&](int n) {
        if (n == 0) {
            ledger.clear();
            actions.begin();
        }
        const TimedSolve solve = actions.solve(n);
        if (!solve.progress.empty())
            context.progress.say(
                fmt::format("{}: {}, {}", numbered(n), solve.progress, seconds_text(solve.seconds)),
                resolved.warmup + n + 1, resolved.warmup + resolved.repeats);
        if (n < 0) return;
        my_seconds += solve.my_seconds;
        digits.push_back(solve.digits);
        findings.facts.graph_replays += static_cast<double>(solve.graph_replays);
        all.seconds.push_back(solve.seconds);
        const Ledger solves_only = ledger;
        actions.keep();
        ledger = solves_only;
    };
    const auto more = [&] {
        return std::reduce(all.seconds.begin(), all.seconds.end()) * actions.solves < resolved.least_seconds;
    };
    all.done = repeat(context, {actions.what, resolved.warmup, resolved.repeats, more}, findings, one);
    if (all.done == 0) return {};
    all.digits = mean_of(digits);
    all.solves = all.done * actions.solves;
    all.timers = gather_timers(context.comm, ledger, my_seconds, all.solves, resolved.details);
    findings.seconds = median(all.seconds);
    return all;
}

TimeVerdict verdict_on(const Resolved& resolved, const RunFacts& facts,
                       const std::vector<SchemeTable>& schemes, const std::vector<TimerRow>& timers,
                       int solves, const std::string& solver) {
    if (timers.empty() || resolved.gpu_sync != GpuSync::per_operation) return {};
    // On virtual nodes messages take other times than on the machine that schemes are predicted for.
    const bool real = facts.simulation || facts.topology.source() == NodeSource::detected;
    const std::string remedy =
        real && !tries_schemes(resolved.comm) && resolved.comm.chooser == SchemeChooser::deck
            ? scheme_remedy(schemes, timers)
            : "";
    return make_verdict(facts, timers, solves, solver, remedy);
}

}  // namespace keel
