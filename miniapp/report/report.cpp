#include "miniapp/report/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "build_info.hpp"
#include "miniapp/report/overloaded.hpp"
#include "miniapp/schemes/scheme_table.hpp"

namespace keel {
namespace {

std::string cube(const Index& n) {
    return n[0] == n[1] && n[1] == n[2] ? fmt::format("{}^3", n[0])
                                        : fmt::format("{}x{}x{}", n[0], n[1], n[2]);
}

// Where each rank computes; ranks at the same place are named together: "ranks 0-7 on cpus 0-1".
std::string bindings_text(const RunFacts& facts) {
    std::vector<std::string> bindings;
    for (std::size_t rank = 0; rank < facts.bindings.size(); ++rank) {
        const std::string& device = facts.devices[rank];
        bindings.push_back((device.empty() ? "" : "device " + device + ", ") + "cpus " +
                           facts.bindings[rank]);
    }
    std::string text;
    for (std::size_t first = 0; first < bindings.size();) {
        std::size_t last = first;
        while (last + 1 < bindings.size() && bindings[last + 1] == bindings[first]) ++last;
        const std::string ranks =
            first == last ? fmt::format("rank {}", first) : fmt::format("ranks {}-{}", first, last);
        text += fmt::format("{}{} on {}", text.empty() ? "" : "; ", ranks, bindings[first]);
        first = last + 1;
    }
    return text;
}

std::string convergence_text(const SolveRecord& solve) {
    const SolveReport& report = solve.report;
    std::string text = "Convergence of the last solve: max|f - L u| / max|f|\n";
    text +=
        fmt::format("{:>7} {:>12} {:>8}   bottom solves (iterations, outcome, residual claimed and true)\n",
                    "cycle", "residual", "factor");
    // Full multigrid visits the bottom once per level in its first cycle, a V-cycle once.
    const std::size_t extra = report.visits.size() - static_cast<std::size_t>(report.cycles);
    std::size_t visit = 0;
    for (std::size_t cycle = 0; cycle < report.residuals.size(); ++cycle) {
        text += fmt::format("{:>7} {:>12.5e} ", cycle, report.residuals[cycle]);
        if (cycle == 0) {
            text += '\n';
            continue;
        }
        text += fmt::format("{:>8.4f}   ", report.residuals[cycle] / report.residuals[cycle - 1]);
        const std::size_t end = visit + 1 + (cycle == 1 ? extra : 0);
        for (const std::size_t first = visit; visit < end; ++visit) {
            const auto& v = report.visits[visit];
            text += fmt::format("{}{} {}", visit > first ? ", " : "", v.iterations, v.outcome);
            if (!v.vanished.empty()) text += " of " + v.vanished;
            if (v.restarts > 0) text += fmt::format(" after {} restarts", v.restarts);
            if (v.residual && v.true_residual)
                text += fmt::format(" {:.1e} {:.1e}", *v.residual, *v.true_residual);
            if (v.columns_dropped > 0) text += fmt::format(", {} columns dropped", v.columns_dropped);
        }
        text += '\n';
    }
    text += fmt::format(
        "{} bottom iterations in {} visits; {} missed the bottom tolerance by their true residual\n",
        report.bottom_iterations(), report.visits.size(), report.missed_bottoms());
    return text;
}

std::string convergence_text(const KrylovRecord& solve) {
    const Report& report = solve.report;
    std::string text =
        fmt::format("Convergence of the last solve: {}'s own |r| / |b|, 2-norms\n{:>10} {:>12}\n",
                    solve.solver, "iteration", "residual");
    const std::size_t last = report.residuals.size() - 1;
    const std::size_t stride = 1 + last / 20;
    for (std::size_t k = 0; k <= last; k += stride) {
        text += fmt::format("{:>10} {:>12.5e}\n", k, report.residuals[k]);
        if (k < last && k + stride > last)
            text += fmt::format("{:>10} {:>12.5e}\n", last, report.residuals[last]);
    }
    text += fmt::format("{} iterations, {}{}, {} restarts; residual claimed {:.3e}, true {:.3e}\n",
                        report.iterations, name(report.outcome),
                        report.vanished.empty() ? "" : " of " + report.vanished, report.restarts,
                        report.residuals.back(), report.true_residual);
    if (report.columns_dropped > 0) text += fmt::format("{} columns dropped\n", report.columns_dropped);
    text += fmt::format(
        "{} applications of the operator, {} V-cycles, {} all-reduces of {} words together, {} exchanges\n",
        report.counts.applications, solve.v_cycles, solve.cost.reductions, solve.cost.reduction_words,
        solve.cost.exchanges);
    return text;
}

std::string survey_text(const SurveyResults& survey) {
    std::size_t widest = 6;
    for (const auto& row : survey.rows) widest = std::max(widest, row.solver.size());
    std::string text = fmt::format(
        "Survey: {} rounds, one solve with each bottom solver a round; counts of the last round\n"
        "{:<{}} {:>8} {:>10} {:>10} {:>10} {:>9} {:>7} {:>10} {:>10} {:>8}\n",
        survey.rows.front().solves.size(), "solver", widest, "V-cycles", "iterations", "reductions", "words",
        "exchanges", "missed", "min s", "median s", "speed-up");
    for (const auto& row : survey.rows) {
        const SolveRecord& last = row.solves.back();
        const std::vector<double> seconds = row.seconds();
        const auto speed_up = survey.speed_up(row);
        const bool tells = std::ranges::any_of(
            last.report.visits, [](const auto& visit) { return visit.true_residual.has_value(); });
        text += fmt::format("{:<{}} {:>8} {:>10} {:>10} {:>10} {:>9} {:>7} {:>10.6f} {:>10.6f} {:>8}\n",
                            row.solver, widest, last.report.cycles, last.report.bottom_iterations(),
                            last.cost.reductions, last.cost.reduction_words, last.cost.exchanges,
                            tells ? std::to_string(last.report.missed_bottoms()) : "-",
                            *std::min_element(seconds.begin(), seconds.end()), median(seconds),
                            !row.converged() ? "failed"
                            : speed_up       ? fmt::format("{:.2f}", *speed_up)
                                             : "-");
    }
    for (const auto& row : survey.rows)
        if (!row.converged())
            text += fmt::format("{} failed: max|f - L u| / max|f| = {:.1e} after {} cycles\n", row.solver,
                                row.solves.back().report.residuals.back(), row.solves.back().report.cycles);
    return text + "missed: bottom solves whose true residual missed bottom.tolerance (- : not measured)\n";
}

// The rows of the table in order, with the entries of each level.
struct Grid {
    std::vector<std::string> ops;
    std::map<std::pair<std::string, int>, TimerRow> cells;
    int levels = 0;

    Grid(const RunFacts& facts, const std::vector<TimerRow>& timers)
        : levels(static_cast<int>(facts.level_cells.size())) {
        for (const TimerRow& row : timers) {
            if (std::find(ops.begin(), ops.end(), row.op) == ops.end()) ops.push_back(row.op);
            cells[{row.op, row.level}] = row;
        }
    }
    const TimerRow* find(const std::string& op, int level) const {
        const auto found = cells.find({op, level});
        return found == cells.end() ? nullptr : &found->second;
    }
};

std::string table_head(const RunFacts& facts, const std::string& last) {
    std::string text = fmt::format("{:<18}", "level");
    for (std::size_t l = 0; l < facts.level_cells.size(); ++l) text += fmt::format(" {:>11}", l);
    text += fmt::format(" {:>11}\n{:<18}", last, "cells");
    for (const Index& cells : facts.level_cells) text += fmt::format(" {:>11}", cube(cells));
    text += fmt::format("\n{:<18}", "boxes of");
    for (const int width : facts.level_boxes) text += fmt::format(" {:>11}", fmt::format("{}^3", width));
    return text + "\n";
}

std::string timing_text(const RunFacts& facts, const Grid& grid) {
    std::string text =
        "Seconds per solve: mean over ranks, below it the slowest rank\n" + table_head(facts, "total");
    std::vector<double> column(static_cast<std::size_t>(grid.levels) + 1);
    for (const std::string& op : grid.ops) {
        std::string mean = fmt::format("{:<18}", op);
        std::string most = fmt::format("{:<18}", "  max");
        double total = 0;
        double slowest = 0;
        for (int l = 0; l < grid.levels; ++l) {
            const TimerRow* row = grid.find(op, l);
            const bool shown = row != nullptr && op != "other";
            mean += shown ? fmt::format(" {:>11.6f}", row->t_mean) : fmt::format(" {:>11}", "");
            most += shown ? fmt::format(" {:>11.6f}", row->t_max) : fmt::format(" {:>11}", "");
            if (row == nullptr) continue;
            total += row->t_mean;
            slowest += row->t_max;
            if (shown) column[static_cast<std::size_t>(l)] += row->t_mean;
        }
        column.back() += total;
        text += fmt::format("{} {:>11.6f}\n{} {:>11.6f}\n", mean, total, most, slowest);
    }
    text += fmt::format("{:<18}", "sum of means");
    for (const double seconds : column) text += fmt::format(" {:>11.6f}", seconds);
    return text + "\n";
}

std::string communication_text(const RunFacts& facts, const Grid& grid) {
    std::string text =
        "Communication per solve, counted: the busiest rank (messages) and any rank (reductions)\n" +
        table_head(facts, "total");
    const auto line = [&](const std::string& name, const std::string& op, double TimerRow::*number) {
        text += fmt::format("{:<18}", name);
        double total = 0;
        for (int l = 0; l < grid.levels; ++l) {
            const TimerRow* row = grid.find(op, l);
            const double value = row == nullptr ? 0 : row->*number;
            total += value;
            text += fmt::format(" {:>11.0f}", value);
        }
        text += fmt::format(" {:>11.0f}\n", total);
    };
    line("messages", "exchange.send", &TimerRow::messages);
    line("bytes", "exchange.send", &TimerRow::bytes);
    line("off-node messages", "exchange.send", &TimerRow::off_node_messages);
    line("off-node bytes", "exchange.send", &TimerRow::off_node_bytes);
    line("reductions", "reduction", &TimerRow::calls);
    line("words in them", "reduction", &TimerRow::words);
    return text;
}

std::string roofline_text(const RunFacts& facts, const Grid& grid) {
    const double triad = facts.triad_bytes_per_second;
    std::string text = fmt::format(
        "Bandwidth: bytes that an operation must move at the least over the mean time; triad measured by "
        "this run: "
        "{:.1f} GB/s\n{:<18} {:>11} {:>11} {:>9} {:>11} {:>11} {:>9}\n{:<18} {:>11} {:>11} {:>9} {:>11} "
        "{:>11} {:>9}\n",
        triad * 1e-9, "", "level 0", "level 0", "level 0", "all levels", "all levels", "all", "operation",
        "GB per solve", "GB/s", "of triad", "GB per solve", "GB/s", "of triad");
    for (const std::string& op : grid.ops) {
        double bytes = 0;
        double seconds = 0;
        for (int l = 0; l < grid.levels; ++l)
            if (const TimerRow* row = grid.find(op, l)) {
                bytes += row->bytes_moved;
                seconds += row->t_mean;
            }
        if (bytes == 0 || seconds == 0) continue;
        const TimerRow* fine = grid.find(op, 0);
        const auto columns = [&](double b, double s) {
            return s > 0 ? fmt::format(" {:>11.4f} {:>11.2f} {:>8.0f}%", b * 1e-9, b / s * 1e-9,
                                       100 * b / s / triad)
                         : fmt::format(" {:>11} {:>11} {:>9}", "", "", "");
        };
        text +=
            fmt::format("{:<18}{}{}\n", op, columns(fine ? fine->bytes_moved : 0, fine ? fine->t_mean : 0),
                        columns(bytes, seconds));
    }
    return text;
}

// How a device's messages travel, and the bandwidth of memory.
std::string machine_text(const RunFacts& facts) {
    return (facts.device_messages.empty() ? "" : fmt::format("messages  {}\n", facts.device_messages)) +
           fmt::format("triad     {:.1f} GB/s, all ranks together\n", facts.triad_bytes_per_second * 1e-9);
}

// Memory and the machine; `what` names the least that a run must hold.
std::string memory_text(const RunFacts& facts, const char* what) {
    return fmt::format("memory    {} a rank predicted, {} measured; {} alone need {}\n",
                       megabytes(facts.predicted_bytes), megabytes(facts.measured_bytes), what,
                       megabytes(facts.array_bytes)) +
           machine_text(facts);
}

// What a run with grids says of them before its keys.
std::string grids_text(const Parameters& parameters, const RunFacts& facts) {
    std::string text = fmt::format(
        "progress  asynchronous: {}; {}\n", facts.asynchronous_progress,
        parameters.comm.progress ? "driven between operations of the bottom solver" : "not driven");
    text += fmt::format("domain    {} cells, {}x{}x{} boxes of {}^3, {} levels\n", cube(facts.cells),
                        facts.boxes[0], facts.boxes[1], facts.boxes[2], parameters.problem.box,
                        facts.level_cells.size());
    return text + (parameters.run.mode == Mode::exchange ? machine_text(facts)
                                                         : memory_text(facts, "the grids' cells"));
}

// By level the mean time of an exchange in what was measured; every exchange with messages packs once.
std::vector<std::optional<double>> seconds_of_exchanges(const RunFacts& facts,
                                                        const std::vector<TimerRow>& timers) {
    const std::size_t levels = std::max<std::size_t>(1, facts.level_cells.size());  // a matrix has one
    std::vector<double> seconds(levels);
    std::vector<double> exchanges(levels);
    for (const TimerRow& row : timers) {
        const auto level = static_cast<std::size_t>(row.level);
        if (row.op.starts_with("exchange.")) seconds[level] += row.t_mean;
        if (row.op == name(Op::pack)) exchanges[level] = row.calls;
    }
    std::vector<std::optional<double>> means(seconds.size());
    for (std::size_t l = 0; l < means.size(); ++l)
        if (exchanges[l] > 0) means[l] = seconds[l] / exchanges[l];
    return means;
}

std::string schemes_text(const Parameters& parameters, const RunFacts& facts,
                         const std::vector<std::optional<double>>& in_run) {
    if (facts.schemes.empty()) return "";
    std::string text;
    if (facts.schemes.front().chosen) text = choices_text(parameters, facts.schemes, in_run) + "\n";
    text += scheme_tables_text(facts.schemes);
    if (facts.tuning_seconds > 0)
        text += fmt::format("trying the schemes took {:.4f} s\n", facts.tuning_seconds);
    return text + "\n";
}

std::string closing_text(const Results& results) {
    std::string text;
    for (const Check& check : results.checks) {
        const bool small = check.value != 0 && std::abs(check.value) < 1e-3;
        text += fmt::format("CHECK  {:<24} {}  {}  (want {})\n", check.name, check.passed ? "PASS" : "FAIL",
                            small ? fmt::format("{:.1e}", check.value) : fmt::format("{:.4g}", check.value),
                            check.want);
    }
    if (std::holds_alternative<SpmvResults>(results.of_mode))
        text += fmt::format("FOM    {:<24} {:.6e}  nonzeros/s\n", "spmv.nonzeros_per_second",
                            results.figure_of_merit());
    else if (!std::holds_alternative<NetworkResults>(results.of_mode) &&
             !std::holds_alternative<ExchangeResults>(results.of_mode))
        text +=
            fmt::format("FOM    {:<24} {:.6e}  dof/s\n", "solve.dof_per_second", results.figure_of_merit());
    return text + fmt::format("RESULT {}\n", results.valid() ? "VALID" : "INVALID");
}

}  // namespace

std::string megabytes(double bytes) {
    return fmt::format("{:.1f} MB", bytes * 1e-6);
}

std::string header_text(const Table& table, const Parameters& parameters, const RunFacts& facts) {
    std::string text = fmt::format("Keel {} ({}), {} {}, {}\n", build_info::version, build_info::revision,
                                   build_info::compiler, build_info::build_type, build_info::flags);
    text += fmt::format("backend   {}\n", facts.backend);
    text += fmt::format("ranks     {}, {}; {}\n", facts.ranks, facts.mpi, facts.topology.describe());
    if (facts.topology.nodes() > 1) text += fmt::format("nodes     {}\n", facts.topology.map());
    text += fmt::format("binding   {}\n", bindings_text(facts));
    if (parameters.run.mode == Mode::spmv)
        text += memory_text(facts, "the matrix and the vectors");
    else if (parameters.run.mode != Mode::network)
        text += grids_text(parameters, facts);
    const auto keys = non_default_keys(table, parameters);
    text += fmt::format("deck      {}\n",
                        keys.empty() ? "all defaults" : fmt::format("{}", fmt::join(keys, "; ")));
    if (facts.shared_cores)
        text +=
            "warning   threads share processors: ranks take turns, so times by operation are those of a rank "
            "while it "
            "ran or waited for its turn, and bandwidths add up ranks that did not run at once\n";
    if (facts.device_sharing > 1)
        text += fmt::format("warning   up to {} ranks share a device: they take turns on it\n",
                            facts.device_sharing);
    if (parameters.run.launches != Launches::synchronous)
        text +=
            "warning   run.launches is not synchronous: the device runs behind the host, so an operation's "
            "time is what "
            "the host spent on it; what the device does shows where the host waits\n";
    for (const std::string& warning : facts.topology.warnings())
        text += fmt::format("warning   {}\n", warning);
    return text;
}

std::string results_text(const Parameters& parameters, const Results& results) {
    const RunFacts& facts = results.facts;
    const auto one_solver = [&](const auto& mode) {
        const Grid grid(facts, mode.timers);
        std::string text = convergence_text(mode.solves.back()) + "\n" + timing_text(facts, grid) + "\n" +
                           communication_text(facts, grid) + "\n" +
                           schemes_text(parameters, facts, seconds_of_exchanges(facts, mode.timers));
        // Without the device's own times there are no bandwidths.
        if (parameters.run.launches == Launches::synchronous) text += roofline_text(facts, grid) + "\n";
        std::vector<double> seconds;
        for (const auto& solve : mode.solves) seconds.push_back(solve.cost.seconds);
        const auto [least, most] = std::minmax_element(seconds.begin(), seconds.end());
        return text + fmt::format("Solve: median {:.4f} s of {} (min {:.4f}, max {:.4f}); set-up {:.3f} s\n",
                                  results.seconds, seconds.size(), *least, *most, facts.setup_seconds);
    };
    return std::visit(Overloaded{one_solver,
                                 [&](const SurveyResults& survey) {
                                     return survey_text(survey) + "\n" + schemes_text(parameters, facts, {});
                                 },
                                 [](const NetworkResults& network) { return network_text(network); },
                                 [&](const ExchangeResults&) { return schemes_text(parameters, facts, {}); },
                                 [&](const SpmvResults& spmv) {
                                     return spmv_text(parameters, spmv, facts.triad_bytes_per_second) +
                                            schemes_text(parameters, facts,
                                                         seconds_of_exchanges(facts, spmv.timers));
                                 }},
                      results.of_mode) +
           closing_text(results);
}

}  // namespace keel
