#include "miniapp/report/tables/level_tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "kernels/timing/ledger.hpp"
#include "miniapp/deck/text/text.hpp"
#include "miniapp/report/tables/table.hpp"

namespace keel {

std::string cells_text(const Index& n, std::size_t dimensions) {
    const auto last = n.begin() + static_cast<std::ptrdiff_t>(dimensions);
    if (std::all_of(n.begin(), last, [&](int along) { return along == n[0]; }))
        return fmt::format("{}^{}", n[0], dimensions);
    return fmt::format("{}", fmt::join(n.begin(), last, "x"));
}

namespace {

// The rows by operation, in the order in which they came, with the entries of each level.
class ByLevel {
  public:
    ByLevel(const RunFacts& facts, const std::vector<TimerRow>& timers) : facts_(facts) {
        for (const TimerRow& row : timers) {
            if (std::ranges::find(ops_, row.op) == ops_.end()) ops_.push_back(row.op);
            cells_[{row.op, row.level}] = &row;
        }
        agglomerates_ = std::ranges::any_of(facts.levels, [&](const LevelShape& level) {
            return level.merged > 1 || level.ranks < facts.levels.front().ranks;
        });
    }

    const std::vector<std::string>& ops() const { return ops_; }
    int levels() const { return static_cast<int>(facts_.levels.size()); }
    const TimerRow* find(const std::string& op, int level) const {
        const auto found = cells_.find({op, level});
        return found == cells_.end() ? nullptr : found->second;
    }
    bool predicted() const {
        return std::ranges::all_of(cells_, [](const auto& cell) { return cell.second->predicted; });
    }

    Cell key(const std::string& text) const {
        return {"", text, agglomerates_ ? "level\ncells\nboxes of\non ranks" : "level\ncells\nboxes of"};
    }
    std::string heading(int level) const {
        const auto l = static_cast<std::size_t>(level);
        return fmt::format("{}\n{}\n{}^{}", level, cells_text(facts_.cells(l), facts_.dimensions),
                           facts_.levels[l].width, facts_.dimensions) +
               (agglomerates_ ? fmt::format("\n{}", facts_.levels[l].ranks) : "");
    }
    std::string total() const { return agglomerates_ ? "total\n\n\n" : "total\n\n"; }

    // A row of text: text_of(entry) on the levels that have the operation, and a total.
    template <class TextOf>
    Row text_row(const std::string& head, const std::string& op, const TextOf& text_of,
                 const std::string& of_all = "") const {
        Row row{key(head)};
        for (int l = 0; l < levels(); ++l) {
            const TimerRow* const entry = find(op, l);
            row.push_back({"", Json(), heading(l), entry ? text_of(*entry) : ""});
        }
        row.push_back({"", Json(), total(), of_all});
        return row;
    }

  private:
    const RunFacts& facts_;
    std::vector<std::string> ops_;
    std::map<std::pair<std::string, int>, const TimerRow*> cells_;
    bool agglomerates_;
};

// The number of the slowest rank, the fastest rank's time, and the calls.
void add_spread(ReportTable& table, const ByLevel& timers, const std::string& op) {
    double calls = 0;
    for (int l = 0; l < timers.levels(); ++l)
        if (const TimerRow* const row = timers.find(op, l)) calls += row->calls;
    table.add(timers.text_row("  max on rank", op,
                              [](const TimerRow& row) { return std::to_string(row.rank_max); }));
    table.add(timers.text_row("  min", op, [](const TimerRow& row) { return seconds_text(row.t_min); }));
    table.add(timers.text_row(
        "  calls", op, [](const TimerRow& row) { return fmt::format("{:.0f}", row.calls); },
        fmt::format("{:.0f}", calls)));
}

// Seconds by level and in all, as a row; the share of each in all, as another.
void add_sums(ReportTable& table, const ByLevel& timers, const std::vector<double>& seconds) {
    const auto levels = static_cast<std::size_t>(timers.levels());
    Row sums{timers.key(timers.predicted() ? "sum" : "sum of means")};
    Row shares{timers.key("share")};
    for (std::size_t l = 0; l <= levels; ++l) {
        const std::string heading = l < levels ? timers.heading(static_cast<int>(l)) : timers.total();
        sums.emplace_back("", seconds[l], heading, Unit::seconds);
        shares.emplace_back("", seconds[l] / seconds.back(), heading, Unit::percent);
    }
    table.add(sums);
    // The last level's share is that of the bottom.
    if (levels > 1 && seconds.back() > 0) table.add(shares);
}

}  // namespace

std::string times_text(const RunFacts& facts, const std::vector<TimerRow>& rows, bool all) {
    const ByLevel timers(facts, rows);
    const bool predicted = timers.predicted();
    const char* const title =
        predicted ? "Time per solve, predicted: the rank with most to do"
        : all     ? "Time per solve: mean over ranks, the slowest rank, its number, the fastest rank, calls"
                  : "Time per solve: mean over ranks, below it the slowest rank";
    ReportTable table(title);
    std::vector<double> sums(static_cast<std::size_t>(timers.levels()) + 1);
    for (const std::string& op : timers.ops()) {
        const bool by_level = op != "other";
        double mean = 0, slowest = 0;
        for (int l = 0; l < timers.levels(); ++l) {
            const TimerRow* const row = timers.find(op, l);
            if (row == nullptr) continue;
            mean += row->t_mean;
            slowest += row->t_max;
            if (by_level) sums[static_cast<std::size_t>(l)] += row->t_mean;
        }
        sums.back() += mean;
        const auto add = [&](const std::string& head, double TimerRow::*seconds, double total) {
            table.add(timers.text_row(
                head, op, [&](const TimerRow& row) { return by_level ? seconds_text(row.*seconds) : ""; },
                seconds_text(total)));
        };
        add(op, &TimerRow::t_mean, mean);
        if (!predicted) add("  max", &TimerRow::t_max, slowest);
        if (all && by_level) add_spread(table, timers, op);
    }
    add_sums(table, timers, sums);
    return table.print();
}

std::string communication_text(const RunFacts& facts, const std::vector<TimerRow>& rows) {
    const ByLevel timers(facts, rows);
    ReportTable table("Communication per solve: the rank with most messages; all-reduces of any rank");
    const auto add = [&](const std::string& head, const auto& ops, const auto& number) {
        Row row{timers.key(head)};
        double total = 0;
        for (int l = 0; l < timers.levels(); ++l) {
            double value = 0;
            for (const Op op : ops)
                if (const TimerRow* const entry = timers.find(name(op), l)) value += number(*entry);
            total += value;
            row.emplace_back("", value, timers.heading(l), Unit::count, Kind::counted);
        }
        row.emplace_back("", total, timers.total(), Unit::count, Kind::counted);
        table.add(row);
    };
    const auto add_messages = [&](const std::string& indent, std::initializer_list<Op> ops) {
        constexpr std::array heads{"messages", "bytes", "off-node messages", "off-node bytes"};
        for (std::size_t n = 0; n < heads.size(); ++n)
            add(indent + heads[n], ops,
                [&](const TimerRow& row) { return row.most_sent.*volume_members[n]; });
    };
    const auto sums = {Op::reduction, Op::reduction_begin};
    add_messages("", {Op::send});
    add("all-reduces", sums, [](const TimerRow& row) { return row.calls; });
    add("  words", sums, [](const TimerRow& row) { return row.words; });
    add_messages("  ", sums);  // none if MPI makes the all-reduces
    const bool on_device = std::ranges::any_of(rows, [](const TimerRow& row) { return row.device[3] > 0; });
    constexpr std::array heads{"launches", "  in graphs", "graph replays", "host waits", "copies", "  bytes"};
    for (std::size_t n = 0; on_device && n < heads.size(); ++n)
        add(heads[n], values_of<Op>(), [n](const TimerRow& row) {
            return row.device[n] + (n == 0 ? row.device[1] : 0);  // nodes are launches, too
        });
    return table.print();
}

std::string visits_text(const std::vector<TimerRow>& rows, std::size_t bottom, double visits) {
    std::array<double, device_count_names.size()> sums{};
    for (const TimerRow& row : rows)
        for (std::size_t n = 0; n < sums.size(); ++n)
            if (row.level == static_cast<int>(bottom) && row.op != "other") sums[n] += row.device[n] / visits;
    if (visits == 0 || sums[0] + sums[1] == 0) return "";
    return fmt::format(
        "Bottom, counted for one of {:.0f} visits: {:.1f} launches ({:.1f} in graphs), {:.1f} host "
        "waits, {:.1f} copies of {}\n",
        visits, sums[0] + sums[1], sums[1], sums[3], sums[4], bytes_text(sums[5]));
}

std::string bandwidths_text(const RunFacts& facts, const std::vector<TimerRow>& rows) {
    const ByLevel timers(facts, rows);
    const double triad = facts.triad_bytes_per_second;
    ReportTable table(fmt::format("Bandwidth: bytes to move over the mean time; triad {}: {:.1f} GB/s",
                                  facts.simulation ? "by the machine's file" : "measured by this run",
                                  triad * 1e-9));
    // The mean over the ranks that work on the level; rows have the mean over all ranks.
    const auto mean_of_workers = [&](const TimerRow& row) {
        const auto level = static_cast<std::size_t>(row.level);
        const bool some = level < facts.levels.size();
        return some ? row.t_mean * facts.ranks / facts.levels[level].ranks : row.t_mean;
    };
    const auto add = [&](Row& row, const std::string& head, double bytes, double seconds) {
        const auto known = [&](double value) { return seconds > 0 ? Json(value) : Json(); };
        row.emplace_back("", known(bytes), head + "\nmoved", Unit::bytes);
        row.emplace_back("", known(bytes / seconds * 1e-9), head + "\nGB/s", Unit::ratio);
        row.emplace_back("", known(bytes / seconds / triad), head + "\nof triad", Unit::percent);
    };
    for (const std::string& op : timers.ops()) {
        double bytes = 0;
        double seconds = 0;
        for (int l = 0; l < timers.levels(); ++l)
            if (const TimerRow* const row = timers.find(op, l)) {
                bytes += row->bytes_moved;
                seconds += mean_of_workers(*row);
            }
        if (bytes == 0 || seconds == 0) continue;
        const TimerRow* const fine = timers.find(op, 0);
        Row row{{"", op, "operation"}};
        add(row, "level 0", fine ? fine->bytes_moved : 0, fine ? fine->t_mean : 0);
        add(row, "all levels", bytes, seconds);
        table.add(row);
    }
    return table.print();
}

std::string movement_text(const Movement& moved, double triad) {
    const auto per_digit = moved.per_unknown_and_digit();
    return fmt::format(
        "Moved, at least: {} a solve, {:.2f} GB/s, {:.0f}% of the triad; {:.0f} bytes per unknown{}\n",
        bytes_text(moved.bytes), moved.seconds > 0 ? moved.bytes / moved.seconds * 1e-9 : 0.0,
        100 * moved.share_of(triad), moved.per_unknown(),
        per_digit ? fmt::format(", {:.0f} for each of {:.2f} decimal digits of the residual", *per_digit,
                                *moved.digits)
                  : "");
}

}  // namespace keel
