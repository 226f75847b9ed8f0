#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "miniapp/deck/text/text.hpp"
#include "miniapp/modes/spmv/amg/virtual_amg.hpp"
#include "miniapp/modes/spmv/spmv_mode.hpp"
#include "miniapp/report/records/krylov_record.hpp"
#include "miniapp/report/records/records.hpp"

namespace keel {

std::string counts_text(const MatrixCounts& counts, const Volume& most_sent, const Volume& all_sent) {
    std::string text = fmt::format("{:<24} {:>14} {:>16}\n", "", "most of a rank", "all ranks");
    const auto line = [&](const char* name, const Count& count) {
        text += fmt::format("{:<24} {:>14.0f} {:>16.0f}\n", name, count.most, count.all);
    };
    line("rows", counts.rows);
    line("nonzeros", counts.nonzeros);
    line("ghost entries", counts.ghosts);
    const auto sent = [&](const char* name, double Volume::*number) {
        line(name, {most_sent.*number, all_sent.*number});
    };
    sent("messages a product", &Volume::messages);
    sent("  of them off node", &Volume::off_node_messages);
    sent("bytes a product", &Volume::bytes);
    sent("  of them off node", &Volume::off_node_bytes);
    return text;
}

std::string spmv_text(const std::string& matrix, const SpmvResults& spmv, double triad,
                      const std::string& on_product, const std::string& on_solve) {
    const double seconds = median(spmv.seconds);
    const auto [least, most] = std::ranges::minmax_element(spmv.seconds);
    std::string text = fmt::format(
        "Matrix: {}: {} rows, {:.0f} nonzeros, {:.1f} a row{}\n", matrix, spmv.rows, spmv.counts.nonzeros.all,
        spmv.counts.nonzeros.all / static_cast<double>(spmv.rows),
        spmv.singular ? "; each row sums to zero, so constants are in the null space, and u is one of many"
                      : "");
    text += counts_text(spmv.counts, spmv.traffic.busiest, spmv.traffic.all);
    text += "Time per product: mean over ranks and the slowest rank\n";
    for (const TimerRow& row : spmv.timers)
        text +=
            fmt::format("{:<24} {:>14} {:>14}\n", row.op, seconds_text(row.t_mean), seconds_text(row.t_max));
    text += on_product;
    const double rate = seconds > 0 ? spmv.bytes_moved / seconds : 0;
    text += fmt::format("Product of {}: median {} of {} (min {}, max {}); {:.2f} GB/s, {:.0f}% of triad\n",
                        counted(spmv.columns, "column"), seconds_text(seconds), spmv.seconds.size(),
                        seconds_text(*least), seconds_text(*most), rate * 1e-9, 100 * rate / triad);
    if (!spmv.solves.empty()) {
        const auto& [report, last, sent] = spmv.solves.back();
        std::vector<double> all;
        for (const auto& solve : spmv.solves) all.push_back(solve.seconds);
        text += fmt::format(
            "Solve by {}: {}\n"
            "{} applications, {} exchanges, {} all-reduces of {} words together; {} messages of {} by the "
            "busiest rank; median {} of {}\n",
            spmv.solver->name, outcome_text(report, spmv.solver->options), report.counts.applications,
            report.counts.exchanges, report.counts.reductions, report.counts.words, sent.busiest.messages,
            bytes_text(sent.busiest.bytes), seconds_text(median(all)), all.size());
        text += restarts_text(report.restarts, spmv.solver->options, spmv.amg.has_value());
        if (spmv.amg && spmv.amg->missing.empty() && !report.succeeded())
            text += cures_of_cycles(spmv.amg->options, spmv.solver->options);
    }
    if (!spmv.kernels.empty()) text += kernels_text(spmv.kernels, spmv.iterations);
    if (spmv.amg) text += amg_text(*spmv.amg) + on_solve;
    return text + "\n";
}

std::string spmv_records(const SpmvResults& spmv) {
    std::string records = line_of({{"record", "spmv"},
                                   {"rows", spmv.rows},
                                   {"nonzeros", spmv.counts.nonzeros.all},
                                   {"columns", spmv.columns},
                                   {"most_rows", spmv.counts.rows.most},
                                   {"most_nonzeros", spmv.counts.nonzeros.most},
                                   {"most_ghosts", spmv.counts.ghosts.most},
                                   {"all_ghosts", spmv.counts.ghosts.all},
                                   {"busiest", volume_json(spmv.traffic.busiest)},
                                   {"all", volume_json(spmv.traffic.all)},
                                   {"bytes_moved", spmv.bytes_moved},
                                   {"seconds", spmv.seconds}});
    return records + timer_records(spmv.timers);
}

std::string solve_record(const NamedSolver& solver, std::size_t repeat, const SpmvResults::Solve& solve) {
    const Report& report = solve.report;
    Json record = krylov_record(repeat, solver.name, solve.seconds, report, solver.options);
    record["reductions"] = report.counts.reductions;
    record["reduction_words"] = report.counts.words;
    record["exchanges"] = report.counts.exchanges;
    record["busiest"] = volume_json(solve.traffic.busiest);
    record["all"] = volume_json(solve.traffic.all);
    return line_of(record);
}

// --- Algebraic multigrid on virtual ranks

std::string virtual_amg_text(const VirtualAmg& amg, const AmgOptions& options) {
    if (amg.levels.empty()) return "Algebraic multigrid: " + amg.too_large + "\n";
    const std::string levels = counted(static_cast<long>(amg.levels.size()), "level");
    std::string text = fmt::format("Algebraic multigrid: {}, as on {} number of ranks\n", levels,
                                   options.coarsening == CoarseningRule::hmis ? "this" : "any");
    if (!amg.missing.empty()) text += "no cycle: for want of " + amg.missing + remedy(amg.outcome) + "\n";
    text += level_sizes(amg.levels);
    if (amg.missing.empty()) text += wrapped(coarsest_text(amg.coarsest), 4);
    if (!amg.too_large.empty()) text += "too large here: " + amg.too_large + "\n";
    const auto in_setup = [&](Event::Kind kind) { return std::ranges::count(amg.setup, kind, &Event::kind); };
    if (!amg.setup.empty() && !amg.proxy)  // otherwise the prediction says it
        text += fmt::format(
            "set-up: {} exchanges, {} all-reduces{}\n", in_setup(Event::Kind::exchange),
            in_setup(Event::Kind::all_reduce),
            options.ownership == Ownership::condensed ? ", besides rows that move to fewer ranks" : "");
    return amg.exchanges.empty() ? text : text + "\n" + scheme_tables_text(amg.exchanges);
}

}  // namespace keel
