#include "miniapp/report/verdict.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "miniapp/report/records/records.hpp"

namespace keel {
namespace {

// Less measured time than this is noise: an interruption by the system takes a part of it.
constexpr double least_milliseconds = 10;

// Sums of operations; every other operation stands alone, by its name in the table of times.
struct Activity {
    static constexpr const char* smoothing = "smoothing";
    static constexpr const char* exchanges = "exchanges";
    static constexpr const char* all_reduces = "all-reduces";
    static constexpr const char* other = "other";
};
std::string activity_of(const TimerRow& row) {
    if (row.op.starts_with("smooth")) return Activity::smoothing;
    if (row.op.starts_with("exchange.")) return Activity::exchanges;
    return row.op.starts_with("reduction") ? Activity::all_reduces : row.op;
}

// The sum of a number over the rows that count.
template <class Counts>
double sum(const std::vector<TimerRow>& rows, double TimerRow::*number, const Counts& counts) {
    double total = 0;
    for (const TimerRow& row : rows)
        if (counts(row)) total += row.*number;
    return total;
}

auto is(const std::string& activity) {
    return [=](const TimerRow& row) { return activity_of(row) == activity; };
}

// The activity and the level that took most time; its bandwidth is that of the ranks that work there.
Json largest_of(const RunFacts& facts, const std::vector<TimerRow>& rows, double total) {
    std::string activity;
    int level = 0;
    double seconds = 0;
    double bytes = 0;
    for (const TimerRow& row : rows) {
        const auto same = [&](const TimerRow& one) {
            return one.level == row.level && activity_of(one) == activity_of(row);
        };
        const double here = sum(rows, &TimerRow::t_mean, same);
        if (row.op == Activity::other || here <= seconds) continue;
        activity = activity_of(row);
        level = row.level;
        seconds = here;
        bytes = sum(rows, &TimerRow::bytes_moved, same);
    }
    const auto l = static_cast<std::size_t>(level);
    const int workers = l < facts.levels.size() ? facts.levels[l].ranks : facts.ranks;
    const double rate = bytes * workers / facts.ranks / seconds;
    // An exchange waits for messages more than it moves.
    const bool known = activity != Activity::exchanges && bytes > 0 && facts.triad_bytes_per_second > 0;
    return {{"activity", activity},
            {"level", level},
            {"share", seconds / total},
            {"triad_share", known ? Json(rate / facts.triad_bytes_per_second) : Json()}};
}

// The deepest level of several.
Json bottom_of(const std::vector<TimerRow>& rows, int level, double total) {
    if (level == 0) return {};
    const auto here = [&](const TimerRow& row) { return row.level == level; };
    const double seconds = sum(rows, &TimerRow::t_mean, here);
    const auto part = [&](const char* activity) {
        const auto counts = [&](const TimerRow& row) { return here(row) && is(activity)(row); };
        return seconds > 0 ? Json(sum(rows, &TimerRow::t_mean, counts) / seconds) : Json();
    };
    return {{"level", level},
            {"share", seconds / total},
            {"exchanges", part(Activity::exchanges)},
            {"all_reduces", part(Activity::all_reduces)}};
}

// Max over mean of the ranks' work, on the level where the difference is largest. The slowest rank of each
// operation may be another one. Exchanges and all-reduces are left out: there ranks wait for the slowest.
Json imbalance_of(const RunFacts& facts, const std::vector<TimerRow>& rows, int levels, double total) {
    Json worst;
    double most = 0;
    for (int level = 0; facts.ranks > 1 && level < levels; ++level) {
        const auto works = [&](const TimerRow& row) {
            const std::string activity = activity_of(row);
            return row.level == level && activity != Activity::exchanges &&
                   activity != Activity::all_reduces && activity != Activity::other;
        };
        const double mean = sum(rows, &TimerRow::t_mean, works);
        const double slowest = sum(rows, &TimerRow::t_max, works);
        if (mean == 0 || (!worst.is_null() && slowest - mean <= most)) continue;
        most = slowest - mean;
        worst = {{"level", level}, {"max_over_mean", slowest / mean}, {"share", std::max(0.0, most / total)}};
    }
    return worst;
}

std::string percent(const Json& share) {
    return fmt::format("{:.0f}%", 100 * share.get<double>());
}

std::vector<std::string> lines_of(const Json& verdict, const std::string& solver, const std::string& remedy) {
    const Json& largest = verdict.at("largest");
    const Json& bottom = verdict.at("bottom");
    const Json& imbalance = verdict.at("imbalance");
    const Json& triad = largest.at("triad_share");
    std::string parts =
        fmt::format("  exchanges {}, all-reduces {}, other {}", percent(verdict.at("exchanges")),
                    percent(verdict.at("all_reduces")), percent(verdict.at("other")));
    if (!bottom.is_null()) parts += "; bottom " + percent(bottom.at("share"));
    if (!bottom.is_null() && !bottom.at("exchanges").is_null())
        parts += fmt::format(", of it {} exchanges, {} all-reduces", percent(bottom.at("exchanges")),
                             percent(bottom.at("all_reduces")));
    std::vector<std::string> lines{
        fmt::format("Verdict{}: {} {} on level {}{}; {:.2f} GFlop/s in all",
                    solver.empty() ? "" : " of " + solver, percent(largest.at("share")),
                    largest.at("activity").get<std::string>(), largest.at("level").get<int>(),
                    triad.is_null() ? "" : fmt::format(" at {} of the triad", percent(triad)),
                    verdict.at("flops_per_second").get<double>() * 1e-9),
        parts,
        imbalance.is_null()
            ? "  imbalance: none"
            : fmt::format("  imbalance of work, max/mean over ranks: {:.2f} on level {}, {} of the time",
                          imbalance.at("max_over_mean").get<double>(), imbalance.at("level").get<int>(),
                          percent(imbalance.at("share")))};
    if (!remedy.empty()) lines.push_back("  remedy: " + remedy);
    return lines;
}

}  // namespace

TimeVerdict make_verdict(const RunFacts& facts, const std::vector<TimerRow>& timers, int solves,
                         const std::string& solver, const std::string& remedy) {
    const auto every = [](const TimerRow&) { return true; };
    const double total = sum(timers, &TimerRow::t_mean, every);
    if (total <= sum(timers, &TimerRow::t_mean, is(Activity::other))) return {};
    const auto share = [&](const char* activity) {
        return std::max(0.0, sum(timers, &TimerRow::t_mean, is(activity)) / total);
    };
    const int bottom = std::ranges::max(timers, {}, &TimerRow::level).level;
    Json record{{"record", "verdict"}};
    if (!solver.empty()) record["solver"] = solver;
    record.update({{"solves", solves},
                   {"seconds", total},
                   {"flops_per_second", sum(timers, &TimerRow::flops, every) / total},
                   {"largest", largest_of(facts, timers, total)},
                   {"exchanges", share(Activity::exchanges)},
                   {"all_reduces", share(Activity::all_reduces)},
                   {"other", share(Activity::other)},
                   {"bottom", bottom_of(timers, bottom, total)},
                   {"imbalance", imbalance_of(facts, timers, bottom + 1, total)}});
    std::vector<std::string> lines = lines_of(record, solver, remedy);
    const double milliseconds = 1e3 * total * solves;
    if (!facts.simulation && milliseconds < least_milliseconds)
        lines = {
            fmt::format("Verdict{}: none; {:.2f} ms measured in all, less than {:.0f} ms: raise run.repeats",
                        solver.empty() ? "" : " of " + solver, milliseconds, least_milliseconds)};
    record["lines"] = lines;
    return {fmt::format("{}\n", fmt::join(lines, "\n")), line_of(record)};
}

}  // namespace keel
