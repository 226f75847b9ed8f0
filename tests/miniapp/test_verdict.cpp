// Verdicts on made-up timers: levels that took no time, levels of fewer ranks, schemes that lose.

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "miniapp/report/verdict.hpp"
#include "miniapp/schemes/scheme_table.hpp"

namespace {

using namespace keel;
using Json = nlohmann::ordered_json;

TimerRow timer(const std::string& op, int level, double t_mean, double t_max, double bytes = 0,
               double flops = 0) {
    TimerRow row{.op = op, .level = level, .calls = 1};
    row.t_mean = t_mean;
    row.t_max = t_max;
    row.bytes_moved = bytes;
    row.flops = flops;
    return row;
}

// Two levels on 4 ranks, one of which works on the coarse level.
RunFacts four_ranks() {
    RunFacts facts;
    facts.ranks = 4;
    facts.levels = {{{2, 2, 1}, 8, 1, 4}, {{1, 1, 1}, 8, 2, 1}};
    facts.triad_bytes_per_second = 10e9;
    return facts;
}

TEST_CASE("a verdict sums up activities, the bottom, and the level whose imbalance costs most") {
    const std::vector<TimerRow> timers{timer("smooth", 0, 0.2, 0.22, 2e9, 1e9),
                                       timer("smooth+residual", 0, 0.3, 0.33, 2e9, 2e9),
                                       timer("smooth", 1, 0.05, 0.2, 1e8, 1e8),
                                       timer("exchange.wait", 0, 0.1, 0.2),
                                       timer("exchange.wait", 1, 0.05, 0.05),
                                       timer("reduction", 1, 0.25, 0.3),
                                       timer("other", 0, 0.05, 0.05)};
    const TimeVerdict verdict = make_verdict(four_ranks(), timers, 3, "", "");
    CHECK(verdict.text ==
          "Verdict: 50% smoothing on level 0 at 80% of the triad; 3.10 GFlop/s in all\n"
          "  exchanges 15%, all-reduces 25%, other 5%; bottom 35%, of it 14% exchanges, 71% all-reduces\n"
          "  imbalance of work, max/mean over ranks: 4.00 on level 1, 15% of the time\n");
    CHECK(!Json::parse(verdict.record).contains("solver"));
    const TimeVerdict named = make_verdict(four_ranks(), timers, 3, "cg", "another scheme");
    CHECK(named.text.starts_with("Verdict of cg: 50% smoothing"));
    CHECK(named.text.ends_with("of the time\n  remedy: another scheme\n"));
    CHECK(Json::parse(named.record)["solver"] == "cg");
    CHECK(Json::parse(named.record)["lines"].size() == 4);
}

TEST_CASE("the triad of a level is that of the ranks that work on it") {
    const TimeVerdict verdict = make_verdict(
        four_ranks(), {timer("smooth", 1, 0.25, 1, 2e9), timer("smooth", 0, 0.1, 0.1)}, 1, "", "");
    // 2 GB in the second that one rank works; the triad is that of all ranks.
    CHECK(Json::parse(verdict.record)["largest"]["triad_share"].get<double>() == Approx(0.2));
}

TEST_CASE("levels and activities that took no time have no share, and nothing is divided by zero") {
    RunFacts facts = four_ranks();
    CHECK(make_verdict(facts, {timer("smooth", 0, 0, 0), timer("other", 0, 1, 1)}, 1, "", "").text.empty());
    CHECK(make_verdict(facts, {timer("smooth", 0, 0, 0), timer("other", 0, 1, 1)}, 1, "", "").record.empty());
    const std::vector<TimerRow> timers{timer("exchange.wait", 0, 1, 1), timer("bottom.operator", 1, 0, 0, 8),
                                       timer("reduction", 1, 0, 0)};
    CHECK(make_verdict(facts, timers, 1, "", "").text ==
          "Verdict: 100% exchanges on level 0; 0.00 GFlop/s in all\n"
          "  exchanges 100%, all-reduces 0%, other 0%; bottom 0%\n"
          "  imbalance: none\n");
    facts.triad_bytes_per_second = 0;
    facts.ranks = 1;
    CHECK(make_verdict(facts, {timer("vector", 0, 1, 1, 8), timer("other", 0, -1e-9, 0)}, 1, "", "").text ==
          "Verdict: 100% vector on level 0; 0.00 GFlop/s in all\n"
          "  exchanges 0%, all-reduces 0%, other 0%\n"
          "  imbalance: none\n");
}

TEST_CASE("solves that took less than 10 ms together have no verdict, unless time is simulated") {
    RunFacts facts = four_ranks();
    const std::vector<TimerRow> timers{timer("smooth", 0, 0.002, 0.002)};
    CHECK(make_verdict(facts, timers, 4, "", "").text ==
          "Verdict: none; 8.00 ms measured in all, less than 10 ms: raise run.repeats\n");
    CHECK(make_verdict(facts, timers, 6, "", "").text.starts_with("Verdict: 100% smoothing"));
    facts.simulation.emplace();
    CHECK(make_verdict(facts, timers, 1, "", "").text.starts_with("Verdict: 100% smoothing"));
}

// An exchange that takes `chosen` seconds by the deck's scheme and `best` by another, both predicted.
SchemeTable exchange(int level, double chosen, double best) {
    const SchemeUse use{.level = level, .layout = Layout({1, 1, 1}, 4, {}, {0}, 0), .what = GhostCells{}};
    SchemeTable table{use, {}};
    for (const double seconds : {chosen, best}) {
        SchemeRow& row = table.rows.emplace_back();
        row.time = PlanTime{.local = 0, .stages = {seconds}, .first = seconds};
    }
    table.chosen = 0;
    return table;
}

TEST_CASE("schemes are a remedy if faster ones are predicted to save more than a tenth of the time") {
    const std::vector<TimerRow> timers{timer("exchange.wait", 0, 0.4, 0.4),
                                       timer("exchange.send", 1, 0.1, 0.1),
                                       timer("exchange.pack", 0, 0.2, 0.2), timer("smooth", 0, 0.3, 0.3)};
    CHECK(scheme_remedy({exchange(0, 4, 1), exchange(1, 2, 1)}, timers) ==
          "comm.scheme = \"auto\" is predicted to save 35% of the time");
    CHECK(scheme_remedy({exchange(0, 4, 4), exchange(1, 4, 1)}, timers).empty());
    // The exchange of a level that gains least counts, but not one without messages.
    CHECK(scheme_remedy({exchange(0, 4, 1), exchange(0, 2, 2), exchange(1, 2, 1)}, timers).empty());
    CHECK(!scheme_remedy({exchange(0, 4, 1), exchange(0, 0, 0)}, timers).empty());
    SchemeTable unknown = exchange(0, 4, 1);
    unknown.rows[0].time.reset();
    CHECK(scheme_remedy({unknown}, timers).empty());
    CHECK(scheme_remedy({}, timers).empty());
}

}  // namespace
