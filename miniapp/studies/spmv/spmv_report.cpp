#include <fmt/format.h>

#include <algorithm>

#include "miniapp/studies/spmv/spmv.hpp"

namespace keel {

std::string spmv_text(const Parameters& p, const SpmvResults& spmv, double triad) {
    const double seconds = median(spmv.seconds);
    const auto [least, most] = std::ranges::minmax_element(spmv.seconds);
    std::string text = fmt::format("Matrix: {}: {} rows, {:.0f} nonzeros, {:.1f} a row\n", p.problem.matrix,
                                   spmv.rows, spmv.nonzeros, spmv.nonzeros / static_cast<double>(spmv.rows));
    text += fmt::format("{:<24} {:>14} {:>14}\n", "", "busiest rank", "all ranks");
    const auto line = [&](const std::string& name, double one, double all) {
        text += fmt::format("{:<24} {:>14.0f} {:>14.0f}\n", name, one, all);
    };
    line("rows", spmv.most_rows, static_cast<double>(spmv.rows));
    line("nonzeros", spmv.most_nonzeros, spmv.nonzeros);
    line("ghost entries", spmv.most_ghosts, spmv.all_ghosts);
    const auto traffic = [&](const std::string& name, long Traffic::*every, long Traffic::*off_node) {
        line(name, static_cast<double>(spmv.traffic.busiest.*every),
             static_cast<double>(spmv.traffic.all.*every));
        line("  of them off node", static_cast<double>(spmv.traffic.busiest.*off_node),
             static_cast<double>(spmv.traffic.all.*off_node));
    };
    traffic("messages a product", &Traffic::messages, &Traffic::off_node_messages);
    traffic("bytes a product", &Traffic::bytes, &Traffic::off_node_bytes);
    text += fmt::format("Seconds per product: mean over ranks and the slowest rank\n");
    for (const TimerRow& row : spmv.timers)
        text += fmt::format("{:<24} {:>14.3e} {:>14.3e}\n", row.op, row.t_mean, row.t_max);
    const double rate = seconds > 0 ? spmv.bytes_moved / seconds : 0;
    text += fmt::format(
        "Product of {} columns: median {:.3e} s of {} (min {:.3e}, max {:.3e}); {:.2f} GB/s, {:.0f}% of "
        "triad\n",
        spmv.columns, seconds, spmv.seconds.size(), *least, *most, rate * 1e-9, 100 * rate / triad);
    if (!spmv.solves.empty()) {
        const auto& [report, last] = spmv.solves.back();
        std::vector<double> all;
        for (const auto& solve : spmv.solves) all.push_back(solve.seconds);
        text += fmt::format(
            "Solve by {}: {} iterations, {}{}, {} restarts; residual claimed {:.3e}, true {:.3e}\n"
            "{} applications, {} exchanges, {} all-reduces of {} words together; median {:.4g} s of {}\n",
            spmv.solver, report.iterations, name(report.outcome),
            report.vanished.empty() ? "" : " of " + report.vanished, report.restarts, report.residuals.back(),
            report.true_residual, report.counts.applications, report.counts.exchanges,
            report.counts.reductions, report.counts.words, median(all), all.size());
    }
    return text + "\n";
}

}  // namespace keel
