// The kernels of Anderson acceleration alone, by every method: filling a window of columns, and replacing its
// oldest ones.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "miniapp/deck/text/text.hpp"
#include "miniapp/modes/grids/fixed_point/fixed_point.hpp"
#include "miniapp/modes/grids/fixed_point/windows.hpp"
#include "miniapp/modes/grids/measured_solves.hpp"
#include "miniapp/modes/grids/prediction/proxy_grid.hpp"
#include "miniapp/report/tables/table.hpp"

namespace keel {
namespace {

// One phase of a method.
struct WindowResult {
    QRCost cost;          // by its row
    long reductions = 0;  // counted, each time
    long words = 0;
    std::vector<double> seconds;  // each time, the slowest rank's
};
using MethodResult = std::array<WindowResult, names_of(WindowPhase()).size()>;

// One result for each of orthogonalisers(), in their order, of `rows` rows; `where` follows the columns in
// the title.
ReportTable orthogonalise_table(const std::vector<MethodResult>& results, int depth, double rows,
                                Kind of_seconds, const std::string& where = "") {
    constexpr std::array headings{"start-up", "recycled", "iteration"};  // by WindowPhase
    ReportTable table(
        fmt::format(
            "Orthogonalisation of {} columns{}: start-up fills the window, recycled replaces the oldest "
            "column, an iteration also solves the least-squares problem; speed-up over mgs",
            depth, where),
        "orthogonalise");
    const auto& methods = orthogonalisers();
    const auto mgs =
        static_cast<std::size_t>(std::ranges::find(methods, "mgs", &Orthogonaliser::name) - methods.begin());
    for (std::size_t n = 0; n < results.size(); ++n) {
        Row row{{"method", methods[n].name, "method"},
                {"depth", depth},
                {"rows", rows},
                {"predicted", of_seconds == Kind::predicted}};
        for (const WindowPhase phase : values_of<WindowPhase>()) {
            const auto p = static_cast<std::size_t>(phase);
            const WindowResult& result = results[n][p];
            const double seconds = median(result.seconds);
            const double speed_up = seconds > 0 ? median(results[mgs][p].seconds) / seconds : 0;
            const std::string head = std::string(headings[p]) + "\n";
            row.emplace_back(name(phase), Json{{"reductions", result.reductions},
                                               {"words", result.words},
                                               {"bytes_per_row", result.cost.bytes},
                                               {"seconds", result.seconds}});
            row.emplace_back("", result.reductions, head + "all-reduces");
            row.emplace_back("", result.words, head + "words");
            row.emplace_back("", seconds, head + "time", Unit::seconds, of_seconds);
            row.emplace_back("", speed_up, head + "speed-up", Unit::ratio, of_seconds);
        }
        table.add(std::move(row));
    }
    return table;
}

// Times windows of all methods, which take turns, on the cells of the finest level.
class WindowTimes {
  public:
    WindowTimes(const Setting& setting, int depth)
        : setting_(setting),
          depth_(depth),
          windows_(setting.hierarchy.level(0), depth),
          results_(orthogonalisers().size()) {}

    // The n-th round, which counts from 0 on. Collective.
    TimedSolve round(int n) {
        TimedSolve all;
        for (std::size_t m = 0; m < results_.size(); ++m) {
            const Orthogonaliser& method = orthogonalisers()[m];
            windows_.all_phases(method, [&](WindowPhase phase, long times, const auto& action) {
                WindowResult& result = results_[m][static_cast<std::size_t>(phase)];
                result.cost = window_cost(method, phase, depth_);
                time(result, times, action, n, all);
            });
            const Ledger timed_only = setting_.ledger;
            misfit_ = std::max(misfit_, windows_.misfit());
            setting_.ledger = timed_only;
        }
        all.progress = "all methods";
        return all;
    }

    const std::vector<MethodResult>& results() const { return results_; }
    // Seconds of an iteration by the fastest method, of its median.
    double fastest() const {
        double least = HUGE_VAL;
        for (const MethodResult& result : results_)
            least = std::min(least, median(result[static_cast<std::size_t>(WindowPhase::iteration)].seconds));
        return least;
    }
    std::vector<Check> checks() const {
        return {{"factorisations_hold", misfit_ < 1e-12, misfit_, "< 1e-12, of |X - Q R| / |X|"},
                {"reductions_as_predicted", miscounted_ == 0, static_cast<double>(miscounted_),
                 "0 phases with other all-reduces or words than their row says"}};
    }

  private:
    void time(WindowResult& result, long times, const std::function<void()>& action, int n, TimedSolve& all) {
        const SolveCost cost =
            measured(setting_.context.comm, setting_.context.backend, setting_.hierarchy, [&] {
                for (long t = 0; t < times; ++t) action();
                setting_.hierarchy.level(0).operations.wait();
            });
        result.reductions = cost.reductions / times;
        result.words = cost.reduction_words / times;
        const bool as_predicted =
            cost.reductions == times * result.cost.reductions &&
            (setting_.resolved.deterministic || cost.reduction_words == times * result.cost.words);
        miscounted_ += as_predicted ? 0 : 1;
        all.seconds += cost.seconds;
        all.my_seconds += cost.my_seconds;
        if (n >= 0) result.seconds.push_back(cost.seconds / static_cast<double>(times));
    }

    const Setting& setting_;
    int depth_;
    Windows windows_;
    std::vector<MethodResult> results_;
    double misfit_ = 0;
    long miscounted_ = 0;
};

// With the totals of windows on a small grid of a box a rank.
std::vector<MethodResult> predicted(const PreparedGrids& prepared, const Communicator& comm) {
    constexpr int width = 16;
    const GridSetup& grids = prepared.grids();
    const int depth = prepared.options<AndersonOptions>().depth;
    GridSetup small = grids;
    small.hierarchy.bottom_box = width;  // one level
    const Index boxes = most_cubic(comm.size(), grids.domain.dimensions());
    ProxyGrid proxy(small, side_by_side(small, boxes, width), comm);
    proxy.record();
    Windows recorded(proxy.hierarchy().level(0), depth);
    for (const Orthogonaliser& method : orthogonalisers())
        recorded.all_phases(method, [](WindowPhase, long, const auto& action) { action(); });
    if (comm.rank() > 0) return {};
    ReplayedGrid on(grids, prepared.resolved().topology, {}, proxy.tape());
    Windows windows(on.hierarchy().level(0), depth);
    const std::vector<ExchangePlan> no_exchanges;
    Costs costs(no_exchanges, virtual_ranks(prepared.resolved()));
    std::vector<MethodResult> results;
    for (const Orthogonaliser& method : orthogonalisers()) {
        MethodResult& result = results.emplace_back();
        windows.all_phases(method, [&](WindowPhase phase, long, const auto& action) {
            on.take();  // events before the phase
            action();
            const Slice slice = on.take();
            WindowResult& one = result[static_cast<std::size_t>(phase)];
            one.cost = window_cost(method, phase, depth);
            one.reductions = one.cost.reductions;
            one.words = one.cost.words;
            one.seconds.push_back(time_of_solve(std::span(&slice, 1), costs).seconds());
        });
    }
    return results;
}

}  // namespace

void make_orthogonalisers(const PreparedGrids& prepared, Hierarchy& hierarchy) {
    Windows windows(hierarchy.level(0), prepared.options<AndersonOptions>().depth);
    for (const Orthogonaliser& method : orthogonalisers())
        windows.all_phases(method, [](WindowPhase, long, const auto&) {});
}

void check_orthogonalisers(Rules& rules, int ranks) {
    const Parameters& p = rules.parameters();
    const Index boxes = resolved_boxes(p.problem, ranks);
    const double rows = p.problem.box_cells() * boxes[0] * boxes[1] * boxes[2];
    const int depth = p.mode_options.of<AndersonOptions>().depth;
    rules.require(depth >= 1, {"anderson.depth", "anderson.orthogonalisation"},
                  "anderson.depth = 0: there is no column to make orthogonal; choose 1 or more");
    rules.require(
        depth <= rows, {"anderson.depth", "problem.box"},
        fmt::format("anderson.depth = {}: more columns than the {:.0f} rows depend on each other; choose "
                    "at most {:.0f}",
                    depth, rows, rows));
}

void add_orthogonalisers(const PreparedGrids& prepared, const Communicator& comm, DryRun& dry) {
    const Resolved& resolved = prepared.resolved();
    if (!predicts(resolved)) {
        dry.text += "remark: seconds are predicted with a comm.machine that computes, such as hopper\n";
        return;
    }
    const std::vector<MethodResult> results = predicted(prepared, comm);
    if (comm.rank() > 0) return;
    const double all_rows = static_cast<double>(product(prepared.grids().finest().cells()));
    const ReportTable table = orthogonalise_table(
        results, prepared.options<AndersonOptions>().depth, all_rows, Kind::predicted,
        fmt::format(" for {} on {}", counted(resolved.ranks, "rank"), resolved.machine->machine.name));
    dry.text += "\n" + table.print() + "\n";
    dry.records += table.to_json();
}

void measure_orthogonalisers(const Setting& setting, Findings& findings) {
    const int depth = setting.prepared.options<AndersonOptions>().depth;
    WindowTimes windows(setting, depth);
    findings.facts.setup_seconds = setting.setup_seconds();
    const auto repeated = repeat_solves(setting, findings,
                                        {.solve = [&](int n) { return windows.round(n); }, .what = "rounds"});
    if (!repeated) return;
    findings.seconds = windows.fastest();
    findings.merit = {"orthogonalise.iterations_per_second",
                      findings.seconds > 0 ? 1 / findings.seconds : 0.0, "iterations/s"};
    const ReportTable table = orthogonalise_table(
        windows.results(), depth, static_cast<double>(product(findings.facts.cells(0))), Kind::measured);
    setting.context.report.record(table.to_json());
    report_solves(setting, findings, *repeated, {.before = table.print(), .timed = "Round of all methods"});
    for (const Check& check : windows.checks()) findings.checks.push_back(check);
}

}  // namespace keel
