#include "miniapp/report/timers.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace keel {
namespace {

// What a ledger's entry and the row "other" have in common, as one rank's row of numbers.
std::vector<double> numbers(const Entry& e) {
    return {static_cast<double>(e.calls),
            e.seconds,
            e.work.bytes,
            e.work.flops,
            static_cast<double>(e.traffic.messages),
            static_cast<double>(e.traffic.bytes),
            static_cast<double>(e.traffic.off_node_messages),
            static_cast<double>(e.traffic.off_node_bytes),
            static_cast<double>(e.words),
            e.longest};
}

// One row from all ranks' numbers; complete on rank 0. Collective.
TimerRow gather_row(const Communicator& comm, const std::string& op, int level, const Entry& entry,
                    int solves, bool by_rank) {
    const std::vector<double> mine = numbers(entry);
    const std::vector<double> all = comm.gather(mine);
    TimerRow row{.op = op, .level = level};
    if (comm.rank() != 0) return row;
    const auto column = [&](std::size_t n) {
        std::vector<double> values;
        for (std::size_t at = n; at < all.size(); at += mine.size()) values.push_back(all[at] / solves);
        return values;
    };
    const auto sum = [&](std::size_t n) {
        const auto values = column(n);
        return std::accumulate(values.begin(), values.end(), 0.0);
    };
    const auto most = [&](std::size_t n) {
        const auto values = column(n);
        return *std::max_element(values.begin(), values.end());
    };
    const auto seconds = column(1);
    const auto slowest = std::max_element(seconds.begin(), seconds.end());
    row.calls = column(0)[0];
    row.t_min = *std::min_element(seconds.begin(), seconds.end());
    row.t_mean = sum(1) / comm.size();
    row.t_max = *slowest;
    row.rank_max = static_cast<int>(slowest - seconds.begin());
    row.bytes_moved = sum(2);
    row.flops = sum(3);
    row.messages = most(4);
    row.bytes = most(5);
    row.off_node_messages = most(6);
    row.off_node_bytes = most(7);
    row.all_messages = sum(4);
    row.all_bytes = sum(5);
    row.all_off_node_messages = sum(6);
    row.all_off_node_bytes = sum(7);
    row.words = column(8)[0];
    row.longest = most(9) * solves;  // of no solve in particular
    if (!by_rank) return row;
    for (std::size_t at = 0; at < all.size(); at += mine.size()) {
        const auto number = [&](std::size_t n) { return all[at + n] / solves; };
        row.by_rank.push_back({number(0), number(1), number(4), number(5), number(6), number(7)});
    }
    return row;
}

// The part that an operation belongs to.
double& part(Parts& parts, std::optional<Op> op, int level, int bottom) {
    if (!op) return parts.other;
    if (is_reduction(*op)) return parts.all_reduce;
    const bool of_bottom = level == bottom;
    if (is_exchange(*op)) return of_bottom ? parts.bottom_exchange : parts.v_cycle_exchange;
    return of_bottom && *op > Op::interpolate ? parts.bottom : parts.v_cycle;
}

}  // namespace

std::vector<TimerRow> gather_timers(const Communicator& comm, const Ledger& ledger, double my_seconds,
                                    int solves, bool by_rank) {
    std::vector<TimerRow> rows;
    Entry other;  // what no decorator saw: the wall time of the solves less all rows
    other.seconds = my_seconds;
    for (std::size_t op = 0; op < op_count; ++op)
        for (int level = 0; level < ledger.levels(); ++level) {
            const Entry& entry = ledger.at(static_cast<Op>(op), level);
            other.seconds -= entry.seconds;
            rows.push_back(gather_row(comm, name(static_cast<Op>(op)), level, entry, solves, by_rank));
        }
    rows.push_back(gather_row(comm, "other", 0, other, solves, by_rank));
    std::erase_if(
        rows, [](const TimerRow& row) { return row.calls == 0 && row.t_max == 0 && row.all_messages == 0; });
    return rows;
}

Parts parts_of(const std::vector<TimerRow>& rows, int bottom) {
    Parts parts;
    for (const TimerRow& row : rows) part(parts, named<Op>(row.op), row.level, bottom) += row.t_mean;
    return parts;
}

Parts parts_of(const Ledger& ledger, double seconds, int bottom) {
    Parts parts;
    parts.other = seconds;
    for (std::size_t n = 0; n < op_count; ++n)
        for (int level = 0; level < ledger.levels(); ++level) {
            const auto op = static_cast<Op>(n);
            part(parts, op, level, bottom) += ledger.at(op, level).seconds;
            parts.other -= ledger.at(op, level).seconds;
        }
    return parts;
}

std::optional<double> Movement::per_unknown_and_digit() const {
    return digits ? std::optional(per_unknown() / *digits) : std::nullopt;
}

double Movement::share_of(double triad) const {
    return seconds > 0 && triad > 0 ? bytes / seconds / triad : 0.0;
}

Movement movement_of(const std::vector<TimerRow>& rows, double unknowns, std::optional<double> digits) {
    Movement movement{.unknowns = unknowns, .digits = digits};
    for (const TimerRow& row : rows) {
        movement.bytes += row.bytes_moved;
        movement.seconds += row.t_mean;
    }
    return movement;
}

std::optional<double> digits_of(std::span<const double> residuals) {
    if (residuals.empty()) return {};
    const double first = residuals.front();
    const double last = std::max(residuals.back(), std::numeric_limits<double>::epsilon() * first);
    const double digits = std::log10(first / last);
    return std::isfinite(digits) && digits > 0 ? std::optional(digits) : std::nullopt;
}

std::optional<double> mean_of(std::span<const std::optional<double>> digits) {
    double sum = 0;
    for (const auto& of_solve : digits) {
        if (!of_solve) return {};
        sum += *of_solve;
    }
    return digits.empty() ? std::nullopt : std::optional(sum / static_cast<double>(digits.size()));
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t n = values.size();
    return n == 0 ? 0 : (values[(n - 1) / 2] + values[n / 2]) / 2;
}

}  // namespace keel
