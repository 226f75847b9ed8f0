#include "miniapp/prediction/seconds/solve_time.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <utility>

namespace keel {
namespace {

double sparse_alltoallv(const Event& event, Costs& costs) {
    const double barriers = static_cast<double>(event.calls) * costs.all_reduce(event.level, 1);
    return barriers + (event.fields == 0 ? 0 : costs.exchange(event).wait);
}
// Lengths and contents, of what its own ranks need of others, of what other nodes need, and of the short
// answers of further rounds.
double gathered_on_node(const Event& event, Costs& costs) {
    const Volume needed = event.fields == 0 ? Volume() : costs.exchange(event).most;
    const auto words = [](double bytes) { return 1 + static_cast<std::size_t>(bytes / sizeof(double)); };
    const auto gathered = [&](std::size_t most) { return costs.gather(GatherAmong::node, most); };
    return 2.0 * static_cast<double>(event.calls) * gathered(1) + gathered(words(needed.bytes)) +
           gathered(words(needed.off_node_bytes));
}

constexpr double looks_of_a_round = 2;  // at the message that is to come, and at the one that is to leave

class Timeline {
  public:
    Timeline(const Slice& slice, Costs& costs, std::map<std::pair<Op, int>, TimerRow>& rows, SolveTime& solve)
        : slice_(slice), costs_(costs), rows_(rows), solve_(solve) {}

    void run() {
        for (const Event& event : slice_.trace) happen(event);
    }

  private:
    void happen(const Event& event) {
        switch (event.kind) {
            case Event::Kind::work:
                return work(event);
            case Event::Kind::exchange:
                return exchange(event);
            case Event::Kind::all_reduce:
                count_sum(book(Op::reduction, event.level, costs_.all_reduce(event.level, event.words), 1),
                          event);
                return;
            case Event::Kind::begin_all_reduce:
                return begin_all_reduce(event);
            case Event::Kind::progress:
                if (costs_.progression() == Progression::by_program) progress(event.level);
                return;
            case Event::Kind::finish_all_reduce:
                return finish_all_reduce(event);
            case Event::Kind::sparse_alltoallv:
            case Event::Kind::agreement:
            case Event::Kind::gather:
                return wait_for_all(event, message_seconds(event, costs_));
        }
    }

    void wait_for_all(const Event& event, double seconds) {
        book(event.op, event.level, seconds, 0);
        solve_.collecting += seconds * slice_.times;
    }

    void work(const Event& event) {
        const auto& [op, level, work] = std::tie(event.op, event.level, event.work);
        const auto calls = static_cast<double>(event.calls);
        // All ranks' packing of boxes is known with their exchange.
        const double ranks = moves_ && (op == Op::pack || op == Op::unpack) ? 0 : slice_.ranks_on(level);
        TimerRow& row = book(op, level, costs_.work(calls, work, op, event.device), calls);
        for (std::size_t n = 0; n < row.device.size(); ++n)
            row.device[n] += slice_.times * static_cast<double>(event.device.*DeviceCounts::numbers()[n]);
        row.flops += work.flops * ranks * slice_.times;
        row.bytes_moved += work.bytes * ranks * slice_.times;
    }

    void exchange(const Event& event) {
        const Costs::OfExchange& cost = costs_.exchange(event);
        const double ranks = slice_.ranks_on(event.level);
        moves_ = cost.moved_by_all > 0;
        const auto move = [&](Op op) {
            if (moves_) book(op, event.level, 0, 0).bytes_moved += cost.moved_by_all * slice_.times;
            if (cost.packed_bytes > 0)
                book(op, event.level, costs_.work(1, {0, cost.packed_bytes}), 1).bytes_moved +=
                    cost.packed_bytes * ranks * slice_.times;
        };
        solve_.exchanges += slice_.times;
        move(Op::pack);
        if (cost.all.messages > 0) {
            count_messages(book(Op::send, event.level, 0, 1), moves_ ? event.sent : cost.most, cost.all);
            book(Op::wait, event.level, waited_for(cost.wait), 1);
        }
        move(Op::unpack);
    }

    // An all-reduce in flight: the rounds left; the messages of the first one arrive at `arrival`.
    struct Sum {
        std::span<const RoundTime> left;
        double arrival = 0;
    };

    // The messages of the first round left leave now. Returns how long that keeps the process busy.
    static double post(Sum& sum, double now) {
        if (sum.left.empty()) return 0;
        const RoundTime& round = sum.left.front();
        sum.arrival = now + round.seconds - round.busy;
        return round.busy;
    }
    // The messages of a round have arrived and are taken; those of the next leave. Returns the same.
    static double take(Sum& sum, double now) {
        const double busy = sum.left.front().busy;
        sum.left = sum.left.subspan(1);
        return busy + post(sum, now + busy);
    }

    void begin_all_reduce(const Event& event) {
        Sum& sum = in_flight_[event.number];
        sum.left = costs_.rounds(event.level, event.words, Costs::Waiting::in_flight);
        count_sum(book(Op::reduction_begin, event.level, post(sum, time_), 1), event);
    }

    // How long a wait of `seconds` takes where all-reduces in flight progress meanwhile, as their
    // messages arrive: longer if that keeps the process busy beyond its end.
    double waited_for(double seconds) {
        double now = time_;
        if (costs_.progression() == Progression::by_program)
            while (Sum* const next = next_to_arrive()) {
                if (next->arrival >= time_ + seconds) break;
                now = std::max(now, next->arrival);
                now += take(*next, now);
            }
        return std::max(now - time_, seconds);
    }
    // The all-reduce in flight whose messages arrive first; null if none has a round left.
    Sum* next_to_arrive() {
        Sum* next = nullptr;
        for (auto& [number, sum] : in_flight_)
            if (!sum.left.empty() && (!next || sum.arrival < next->arrival)) next = &sum;
        return next;
    }

    void progress(int level) {
        double now = time_;
        for (auto& [number, sum] : in_flight_)
            while (!sum.left.empty()) {
                now += looks_of_a_round * costs_.look();
                if (sum.arrival > now) break;
                now += take(sum, now);
            }
        book(Op::reduction_progress, level, now - time_, 1);
    }

    // Other all-reduces of Keel's own messages progress meanwhile, as these arrive.
    void finish_all_reduce(const Event& event) {
        Sum& awaited = in_flight_.at(event.number);
        double now = time_;
        while (!awaited.left.empty()) {
            Sum* const next = costs_.progression() == Progression::by_program ? next_to_arrive() : &awaited;
            now = std::max(now, next->arrival);
            now += take(*next, now);
        }
        in_flight_.erase(event.number);
        book(Op::reduction_wait, event.level, now - time_, 1);
    }

    void count_messages(TimerRow& row, const Volume& most, const Volume& all) const {
        row.most_sent.add(most, slice_.times);
        row.all_sent.add(all, slice_.times);
    }

    void count_sum(TimerRow& row, const Event& event) {
        row.words += static_cast<double>(event.words) * slice_.times;
        if (!event.maximum) {
            const Costs::AllReduceMessages& sent = costs_.sum(event.level, event.words, event.summands);
            count_messages(row, sent.most, sent.all);
        }
        solve_.words += static_cast<double>(event.words) * slice_.times;
        solve_.reductions += slice_.times;
    }

    TimerRow& book(Op op, int level, double seconds, double calls) {
        time_ += seconds;
        TimerRow& row = rows_[{op, level}];
        row.calls += calls * slice_.times;
        row.t_mean += seconds * slice_.times;
        return row;
    }

    const Slice& slice_;
    Costs& costs_;
    std::map<std::pair<Op, int>, TimerRow>& rows_;
    SolveTime& solve_;
    double time_ = 0;
    bool moves_ = false;            // whether the last exchange was of boxes that are merged or come back
    std::map<int, Sum> in_flight_;  // by their numbers
};

template <class Counts>
double seconds_where(const std::vector<TimerRow>& rows, const Counts& counts) {
    double sum = 0;
    for (const TimerRow& row : rows) sum += counts(row) ? row.t_mean : 0;
    return sum;
}

bool is_all_reduce(const TimerRow& row) {
    const auto op = named<Op>(row.op);
    return op && is_reduction(*op);
}

}  // namespace

double message_seconds(const Event& event, Costs& costs) {
    switch (event.kind) {
        case Event::Kind::exchange:
            return costs.exchange(event).all.messages > 0 ? costs.exchange(event).wait : 0;
        case Event::Kind::all_reduce:
            return costs.all_reduce(event.level, event.words);
        case Event::Kind::sparse_alltoallv:
            return sparse_alltoallv(event, costs);
        case Event::Kind::agreement:
            return sparse_alltoallv(event, costs) + gathered_on_node(event, costs);
        case Event::Kind::gather:
            return static_cast<double>(event.calls) * costs.gather(event.whom, event.words);
        default:
            return 0;
    }
}

double SolveTime::seconds() const {
    return seconds_where(rows, [](const TimerRow&) { return true; });
}

double SolveTime::seconds_of(const LevelRange& levels) const {
    return seconds_where(
        rows, [&](const TimerRow& row) { return levels.first <= row.level && row.level <= levels.last; });
}

double SolveTime::all_reduce_seconds() const {
    return seconds_where(rows, is_all_reduce);
}

double SolveTime::communication_seconds() const {
    return collecting + seconds_where(rows, [](const TimerRow& row) {
               return is_all_reduce(row) || row.op == name(Op::wait) || row.op == name(Op::send);
           });
}

SolveTime time_of_solve(std::span<const Slice> slices, Costs& costs) {
    SolveTime solve;
    std::map<std::pair<Op, int>, TimerRow> rows;
    for (const Slice& slice : slices) Timeline(slice, costs, rows, solve).run();
    for (auto& [place, row] : rows) {
        row.op = name(place.first);
        row.level = place.second;
        row.t_min = row.t_max = row.t_mean;
        row.predicted = true;
        solve.rows.push_back(row);
    }
    return solve;
}

}  // namespace keel
