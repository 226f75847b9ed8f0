#include "miniapp/report/timers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace keel {
namespace {

// One row from all ranks' entries; complete on rank 0. Collective.
TimerRow gather_row(const Communicator& comm, const std::string& op, int level, const Entry& entry,
                    int solves, bool by_rank) {
    const Volume sent = volume_of(entry.traffic);
    const std::array mine{
        static_cast<double>(entry.calls), entry.seconds,      entry.work.bytes, entry.work.flops,
        static_cast<double>(entry.words), entry.longest,      sent.messages,    sent.bytes,
        sent.off_node_messages,           sent.off_node_bytes};
    const std::vector<double> all = comm.gather(mine);
    TimerRow row{.op = op, .level = level};
    std::vector<RankTime> ranks;
    for (std::size_t first = 0; first < all.size(); first += mine.size()) {
        const auto number = [&](std::size_t n) { return all[first + n] / solves; };
        const RankTime& rank =
            ranks.emplace_back(RankTime{number(0), number(1), {number(6), number(7), number(8), number(9)}});
        row.t_mean += rank.seconds;
        row.bytes_moved += number(2);
        row.flops += number(3);
        row.longest = std::max(row.longest, all[first + 5]);
        row.most_sent.raise_to(rank.sent);
        row.all_sent.add(rank.sent);
    }
    if (ranks.empty()) return row;
    row.calls = ranks.front().calls;
    row.words = all[4] / solves;
    for (std::size_t n = 0; n < row.device.size(); ++n)
        row.device[n] = static_cast<double>(entry.device.*DeviceCounts::numbers()[n]) / solves;
    row.t_mean /= comm.size();
    row.t_min = std::ranges::min(ranks, {}, &RankTime::seconds).seconds;
    const auto slowest = std::ranges::max_element(ranks, {}, &RankTime::seconds);
    row.t_max = slowest->seconds;
    row.rank_max = static_cast<int>(slowest - ranks.begin());
    if (by_rank) row.by_rank = std::move(ranks);
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
    Entry other;  // the wall time of the solves less all rows
    other.seconds = my_seconds;
    for (std::size_t op = 0; op < op_count; ++op)
        for (int level = 0; level < ledger.levels(); ++level) {
            const Entry& entry = ledger.at(static_cast<Op>(op), level);
            other.seconds -= entry.seconds;
            rows.push_back(gather_row(comm, name(static_cast<Op>(op)), level, entry, solves, by_rank));
        }
    rows.push_back(gather_row(comm, "other", 0, other, solves, by_rank));
    std::erase_if(rows, [](const TimerRow& row) {
        return row.calls == 0 && row.t_max == 0 && row.all_sent.messages == 0;
    });
    return rows;
}

Parts parts_of(const std::vector<TimerRow>& rows, int bottom) {
    Parts parts;
    for (const TimerRow& row : rows) part(parts, named<Op>(row.op), row.level, bottom) += row.t_mean;
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
