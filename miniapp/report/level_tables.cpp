#include "miniapp/report/level_tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "kernels/timing/ledger.hpp"
#include "miniapp/deck/text/text.hpp"

namespace keel {

std::string cells_text(const Index& n, std::size_t dimensions) {
    const auto last = n.begin() + static_cast<std::ptrdiff_t>(dimensions);
    if (std::all_of(n.begin(), last, [&](int along) { return along == n[0]; }))
        return fmt::format("{}^{}", n[0], dimensions);
    return fmt::format("{}", fmt::join(n.begin(), last, "x"));
}

LevelTables::LevelTables(const RunFacts& facts, const std::vector<TimerRow>& timers)
    : facts_(facts), levels_(static_cast<int>(facts.level_cells.size())) {
    for (const TimerRow& row : timers) {
        if (std::ranges::find(ops_, row.op) == ops_.end()) ops_.push_back(row.op);
        cells_[{row.op, row.level}] = &row;
    }
    for (const Index& cells : facts.level_cells)
        width_ = std::max(width_, cells_text(cells, facts.dimensions).size());
}

const TimerRow* LevelTables::find(const std::string& op, int level) const {
    const auto found = cells_.find({op, level});
    return found == cells_.end() ? nullptr : found->second;
}

std::string LevelTables::entry(const std::string& text) const {
    return fmt::format(" {:>{}}", text, width_);
}

std::string LevelTables::head(const std::string& last) const {
    std::string text = fmt::format("{:<18}", "level");
    for (std::size_t l = 0; l < facts_.level_cells.size(); ++l) text += entry(std::to_string(l));
    text += entry(last) + fmt::format("\n{:<18}", "cells");
    for (const Index& cells : facts_.level_cells) text += entry(cells_text(cells, facts_.dimensions));
    text += fmt::format("\n{:<18}", "boxes of");
    for (const int width : facts_.level_boxes) text += entry(fmt::format("{}^{}", width, facts_.dimensions));
    if (std::ranges::any_of(facts_.level_merged, [](int merged) { return merged > 1; })) {
        text += fmt::format("\n{:<18}", "on ranks");
        for (const int ranks : facts_.level_ranks) text += entry(std::to_string(ranks));
    }
    return text + "\n";
}

std::string LevelTables::times(bool all) const {
    const bool predicted =
        std::ranges::all_of(cells_, [](const auto& cell) { return cell.second->predicted; });
    std::string text =
        (predicted ? "Time per solve, predicted: the rank with most to do\n"
         : all ? "Time per solve: mean over ranks, below it the slowest rank, which it is, the fastest, and "
                 "calls\n"
               : "Time per solve: mean over ranks, below it the slowest rank\n") +
        head("total");
    std::vector<double> column(static_cast<std::size_t>(levels_) + 1);
    for (const std::string& op : ops_) {
        std::string mean = fmt::format("{:<18}", op);
        std::string most = fmt::format("{:<18}", "  max");
        double total = 0;
        double slowest = 0;
        for (int l = 0; l < levels_; ++l) {
            const TimerRow* row = find(op, l);
            const bool shown = row != nullptr && op != "other";
            mean += entry(shown ? seconds_text(row->t_mean) : "");
            most += entry(shown ? seconds_text(row->t_max) : "");
            if (row == nullptr) continue;
            total += row->t_mean;
            slowest += row->t_max;
            if (shown) column[static_cast<std::size_t>(l)] += row->t_mean;
        }
        column.back() += total;
        text += mean + entry(seconds_text(total)) + "\n";
        if (!predicted) text += most + entry(seconds_text(slowest)) + "\n";
        if (all && op != "other") text += spread(op);
    }
    text += fmt::format("{:<18}", predicted ? "sum" : "sum of means");
    for (const double seconds : column) text += entry(seconds_text(seconds));
    // Of the last level, this is the bottom's share of a solve.
    if (levels_ > 1 && column.back() > 0) {
        text += fmt::format("\n{:<18}", "share");
        for (const double seconds : column)
            text += entry(fmt::format("{:.0f}%", 100 * seconds / column.back()));
    }
    return text + "\n";
}

std::string LevelTables::spread(const std::string& op) const {
    std::string text;
    const auto line = [&](const char* head, const auto& told) {
        text += fmt::format("{:<18}", head);
        for (int l = 0; l < levels_; ++l) {
            const TimerRow* row = find(op, l);
            text += entry(row != nullptr ? told(*row) : "");
        }
    };
    line("  max on rank", [](const TimerRow& row) { return std::to_string(row.rank_max); });
    text += "\n";
    line("  min", [](const TimerRow& row) { return seconds_text(row.t_min); });
    text += "\n";
    double calls = 0;
    line("  calls", [&](const TimerRow& row) {
        calls += row.calls;
        return fmt::format("{:.0f}", row.calls);
    });
    return text + entry(fmt::format("{:.0f}", calls)) + "\n";
}

std::string LevelTables::communication() const {
    std::string text =
        "Communication per solve, counted: the busiest rank (messages) and any rank (reductions)\n" +
        head("total");
    using Ops = std::vector<std::string>;
    const auto line = [&](const std::string& name, const Ops& ops, double TimerRow::*number) {
        text += fmt::format("{:<18}", name);
        double total = 0;
        for (int l = 0; l < levels_; ++l) {
            double value = 0;
            for (const std::string& op : ops)
                if (const TimerRow* row = find(op, l)) value += row->*number;
            total += value;
            text += entry(fmt::format("{:.0f}", value));
        }
        text += entry(fmt::format("{:.0f}", total)) + "\n";
    };
    const Ops sends{name(Op::send)};
    const Ops sums{name(Op::reduction), name(Op::reduction_begin)};
    line("messages", sends, &TimerRow::messages);
    line("bytes", sends, &TimerRow::bytes);
    line("off-node messages", sends, &TimerRow::off_node_messages);
    line("off-node bytes", sends, &TimerRow::off_node_bytes);
    line("reductions", sums, &TimerRow::calls);
    line("words in them", sums, &TimerRow::words);
    const auto has_messages = [&](const auto& cell) {
        return std::ranges::find(sums, cell.first.first) != sums.end() && cell.second->messages > 0;
    };
    if (std::ranges::any_of(cells_, has_messages)) {  // comm.allreduce of our own
        line("messages in them", sums, &TimerRow::messages);
        line("bytes in them", sums, &TimerRow::bytes);
        line("  off-node msgs", sums, &TimerRow::off_node_messages);
        line("  off-node bytes", sums, &TimerRow::off_node_bytes);
    }
    return text;
}

std::string LevelTables::bandwidths() const {
    const double triad = facts_.triad_bytes_per_second;
    std::string text = fmt::format(
        "Bandwidth: bytes that an operation must move at the least over the mean time; triad {}: "
        "{:.1f} GB/s\n{:<18} {:>11} {:>11} {:>9} {:>11} {:>11} {:>9}\n{:<18} {:>11} {:>11} {:>9} {:>11} "
        "{:>11} {:>9}\n",
        facts_.simulation ? "by the machine's file" : "measured by this run", triad * 1e-9, "", "level 0",
        "level 0", "level 0", "all levels", "all levels", "all", "operation", "per solve", "GB/s", "of triad",
        "per solve", "GB/s", "of triad");
    // The mean of all ranks, of which only some work on a merged level.
    const auto mean_of_workers = [&](const TimerRow& row) {
        const auto level = static_cast<std::size_t>(row.level);
        const bool some = level < facts_.level_ranks.size();
        return some ? row.t_mean * facts_.ranks / facts_.level_ranks[level] : row.t_mean;
    };
    for (const std::string& op : ops_) {
        double bytes = 0;
        double seconds = 0;
        for (int l = 0; l < levels_; ++l)
            if (const TimerRow* row = find(op, l)) {
                bytes += row->bytes_moved;
                seconds += mean_of_workers(*row);
            }
        if (bytes == 0 || seconds == 0) continue;
        const TimerRow* fine = find(op, 0);
        const auto columns = [&](double b, double s) {
            return s > 0 ? fmt::format(" {:>11} {:>11.2f} {:>8.0f}%", bytes_text(b), b / s * 1e-9,
                                       100 * b / s / triad)
                         : fmt::format(" {:>11} {:>11} {:>9}", "", "", "");
        };
        text +=
            fmt::format("{:<18}{}{}\n", op, columns(fine ? fine->bytes_moved : 0, fine ? fine->t_mean : 0),
                        columns(bytes, seconds));
    }
    return text;
}

std::string movement_text(const Movement& moved, double triad) {
    const auto per_digit = moved.per_unknown_and_digit();
    return fmt::format(
        "Moved at the least: {} a solve, {:.2f} GB/s, {:.0f}% of the triad; {:.0f} bytes per unknown{}\n",
        bytes_text(moved.bytes), moved.seconds > 0 ? moved.bytes / moved.seconds * 1e-9 : 0.0,
        100 * moved.share_of(triad), moved.per_unknown(),
        per_digit ? fmt::format(", {:.0f} for each of {:.2f} decimal digits of the residual", *per_digit,
                                *moved.digits)
                  : "");
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
        if (exchanges[l] > 0 && !(l == 0 && facts.surrogate())) means[l] = seconds[l] / exchanges[l];
    return means;
}

}  // namespace keel
