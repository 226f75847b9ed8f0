#include "miniapp/modes/grids/benchmark/sums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "miniapp/deck/text/text.hpp"
#include "miniapp/report/tables/level_tables.hpp"

namespace keel::benchmark {
namespace {

// Keeps the worse of two checks of one name.
void add_check(std::vector<Check>& checks, const Check& check) {
    const auto kept = std::ranges::find(checks, check.name, &Check::name);
    if (kept == checks.end())
        checks.push_back(check);
    else if (kept->passed && (!check.passed || (check.want == kept->want && check.value > kept->value)))
        *kept = check;
}

}  // namespace

void KeptRecords::record(const std::string& lines) {
    if (shown_) shown_->record(lines);
    std::istringstream all(lines);
    for (std::string line; std::getline(all, line);) {
        Json one = Json::parse(line);
        if (one.at("record") == "solve")
            solves.push_back(std::move(one));
        else if (one.at("record") == "timer")
            timers.push_back(std::move(one));
    }
}

void add_findings(const Findings& one, Findings& all) {
    all.interruption = one.interruption;
    for (const Tally& tally : one.tallies) {
        all.tallies.front().done += tally.done;
        all.tallies.front().all += tally.all;
    }
    for (const Check& check : one.checks)
        if (check.name != "solves_converged") add_check(all.checks, check);
}

void add_problem(const char* spacing, const Case& problem, const Findings& one, const KeptRecords& kept,
                 GridSums& grid, ReportTable& problems) {
    const Json& first = kept.solves.front();
    const std::optional<double> digits = one.merit->work->digits;
    grid.facts = one.facts;
    grid.tolerance = *one.merit->work->tolerance;
    grid.seconds += one.seconds;
    const double setup_seconds = one.facts.setup_seconds + one.facts.tuning_seconds;
    grid.setup_seconds += setup_seconds;
    grid.digits.push_back(digits);
    grid.cycles += first.at("cycles").get<double>();
    for (const Json& timer : kept.timers) {
        const auto mean = timer.at("t_mean").get<double>();
        grid.busy += mean;
        if (timer.at("level") == 0 && timer.at("op").get<std::string>().starts_with("smooth")) {
            grid.smoothing += mean;
            grid.smoothed += timer.at("bytes_moved").get<double>();
        }
        if (timer.at("level").get<std::size_t>() + 1 == one.facts.levels.size()) grid.busy_at_bottom += mean;
        grid.moved += timer.at("bytes_moved").get<double>();
        grid.sent += timer.at("all_bytes").get<double>();
    }
    Json seconds = Json::array();
    Json residuals = Json::array();  // the last of each solve
    for (const Json& solve : kept.solves) {
        grid.measured_seconds += solve.at("seconds").get<double>();
        grid.converged += solve.at("converged").get<bool>() ? 1 : 0;
        seconds.push_back(solve.at("seconds"));
        residuals.push_back(solve.at("residuals").back());
    }
    grid.solves += static_cast<long>(kept.solves.size());
    problems.add({{"grid", spacing},
                  {"boundary", name(problem.boundary)},
                  {"rhs", name(problem.rhs)},
                  {"seconds", seconds},
                  {"residuals", residuals},
                  {"cycles", first.at("cycles")},
                  {"bottom_iterations", first.at("bottom_iterations")},
                  {"digits", number_or_null(digits)},
                  {"u_l2", first.at("u_l2")},
                  {"setup_seconds", setup_seconds}});
}

double dof_per_second(const GridSums& grid) {
    return problem_count * static_cast<double>(grid.facts.domain->cells) / grid.seconds;
}

std::string smoother_text(const GridSums& grid) {
    const double rate = grid.smoothed / grid.smoothing;
    const RunFacts& facts = grid.facts;
    return fmt::format(
        "smoother  {:.1f} GB/s, {:.0f}% of the triad{}\n", 1e-9 * rate,
        100 * rate / facts.triad_bytes_per_second,
        facts.device_bytes_per_second > 0
            ? fmt::format("; {:.0f}% of the {:.0f} GB/s that the driver states of {}",
                          100 * rate / facts.device_bytes_per_second, 1e-9 * facts.device_bytes_per_second,
                          counted(facts.devices_in_use, "device"))
            : "");
}

void add_grid(const char* spacing, const GridSums& grid, ReportTable& grids) {
    const RunFacts& facts = grid.facts;
    const auto each = [](double sum) { return sum / problem_count; };
    const double digits = mean_of(grid.digits).value_or(0) * problem_count;
    const double per_unknown = each(grid.moved) / static_cast<double>(facts.domain->cells);
    grids.add({{"grid", spacing, "grid"},
               {"box", facts.levels.front().width},
               {"cells", facts.cells(0), "cells", cells_text(facts.cells(0), facts.dimensions)},
               {"unknowns", facts.domain->cells},
               {"tolerance", grid.tolerance},
               {"solves", grid.solves, "solves"},
               {"measured_seconds", grid.measured_seconds},
               {"setup_seconds", each(grid.setup_seconds), "set-up", Unit::seconds},
               {"seconds", each(grid.seconds), "a solve", Unit::seconds},
               {"cycles", each(grid.cycles), "cycles", fmt::format("{:.1f}", each(grid.cycles))},
               {"dof_per_second", dof_per_second(grid), "dof/s", fmt::format("{:.4e}", dof_per_second(grid))},
               {"digits_per_second", digits / grid.seconds, "digits/s", Unit::ratio},
               {"bottom_share", grid.busy_at_bottom / grid.busy, "bottom", Unit::percent},
               {"bytes_per_unknown", per_unknown, "B/unknown", fmt::format("{:.0f}", per_unknown)},
               {"smoother_bytes_per_second", grid.smoothed / grid.smoothing},
               {"triad_share", grid.moved / grid.busy / facts.triad_bytes_per_second},
               {"sent_bytes", each(grid.sent), "sent", Unit::bytes}});
}

}  // namespace keel::benchmark
