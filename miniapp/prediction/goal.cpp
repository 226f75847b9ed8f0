#include "miniapp/prediction/goal.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <list>
#include <map>
#include <string>
#include <tuple>

#include "comm/reductions/rounds.hpp"
#include "kernels/check.hpp"

namespace keel {
namespace {

bool communicates(const Event& event) {
    return event.kind == Event::Kind::exchange || event.kind == Event::Kind::sum ||
           event.kind == Event::Kind::begin_sum;
}

// An event with the level and the work that it has in the solve.
Event in_solve(Event event, const Slice& slice) {
    const double boxes = slice.share(event.op, event.level).boxes;
    event.level += slice.shift;
    event.work = {event.work.flops * boxes, event.work.bytes * boxes};
    return event;
}

// `from`: the first level of the bottom.
void append_visit(Trace& cycle, const Slice& bottom, int from, long most) {
    long taken = 0;
    bool there = false;
    for (const Event& event : *bottom.trace) {
        if (event.level + bottom.shift < from) {
            if (there) return;
            continue;
        }
        there = true;
        if (communicates(event) && ++taken > most) return;
        cycle.push_back(in_solve(event, bottom));
    }
}

// All events until the bottom is reached for the second time.
Trace first_cycle(std::span<const Slice> slices, int bottom, long most_of_visit) {
    const Slice& whole = slices.back();
    Trace cycle;
    bool visited = false;
    bool there = false;
    for (const Event& event : *whole.trace) {
        const bool before = there;
        there = event.level + whole.shift >= bottom;
        if (!there) cycle.push_back(in_solve(event, whole));
        if (!there || before) continue;
        if (visited) break;
        append_visit(cycle, slices.front(), bottom, most_of_visit);
        visited = true;
    }
    return cycle;
}

// The messages of a plan by rank, stage after stage, `local` first.
struct MessagesOf {
    std::vector<std::vector<const Message*>> sent, received;
};
using Stages = std::vector<MessagesOf>;

// Ranks by their numbers among all, in the order of those that they have among themselves; empty: all of them.
struct Among {
    std::span<const int> ranks;

    int name(int number) const { return ranks.empty() ? number : ranks[static_cast<std::size_t>(number)]; }
    // -1 of a rank that is none of them.
    int number(int rank) const {
        if (ranks.empty()) return rank;
        const auto found = std::ranges::lower_bound(ranks, rank);
        return found != ranks.end() && *found == rank ? static_cast<int>(found - ranks.begin()) : -1;
    }
};

Stages by_rank(const Plan& plan, std::size_t ranks) {
    Stages stages;
    plan.for_each_phase([&](const PhaseMessages& phase) {
        MessagesOf& here = stages.emplace_back(MessagesOf{std::vector<std::vector<const Message*>>(ranks),
                                                          std::vector<std::vector<const Message*>>(ranks)});
        for (const Message& message : phase.messages) {
            here.sent[static_cast<std::size_t>(message.source)].push_back(&message);
            here.received[static_cast<std::size_t>(message.target)].push_back(&message);
        }
    });
    return stages;
}

using Label = long;
constexpr Label none = 0;

// What one rank does. Lines are labelled in their order; what has been done last is required by what comes next.
class Program {
  public:
    Program(std::ostream& out, int rank, Costs& costs) : out_(out), rank_(rank), costs_(costs) {
        fmt::print(out_, "rank {} {{\n", rank_);
    }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;
    ~Program() {
        settle();
        fmt::print(out_, "}}\n");
    }

    void work(double calls, const Work& work) { seconds_ += costs_.work(calls, work); }

    // `bytes_of_cell`: of all fields that travel together. `tag` is the first of those that are the exchange's own.
    void exchange(const Stages& stages, const Among& among, std::size_t bytes_of_cell, int tag) {
        const auto r = static_cast<std::size_t>(among.number(rank_));
        double sent = 0;
        double received = 0;
        for (const MessagesOf& stage : stages) {
            for (const Message* message : stage.sent[r]) sent += bytes(*message, bytes_of_cell);
            for (const Message* message : stage.received[r]) received += bytes(*message, bytes_of_cell);
        }
        if (sent + received == 0) return;
        work(1, {0, 2 * sent});
        settle();
        std::vector<Label> all;  // to wait for at the end
        Label before = now_;
        for (std::size_t n = 0; n < stages.size(); ++n) {
            std::vector<Label> arrived;
            for (const Message* message : stages[n].received[r])
                arrived.push_back(line(before, "recv {:.0f}b from {} tag {}", bytes(*message, bytes_of_cell),
                                       among.name(message->source), tag + static_cast<int>(n)));
            for (const Message* message : stages[n].sent[r])
                all.push_back(line(before, "send {:.0f}b to {} tag {}", bytes(*message, bytes_of_cell),
                                   among.name(message->target), tag + static_cast<int>(n)));
            all.insert(all.end(), arrived.begin(), arrived.end());
            if (n > 0 && !arrived.empty()) before = join(arrived);  // the local stage overlaps all others
        }
        now_ = join(all);
        work(1, {0, 2 * received});
    }

    void sum(const std::vector<Round>& rounds, const Among& among) {
        settle();
        now_ = chain(rounds, among, now_, 0, "");
    }
    void begin_sum(const std::vector<Round>& rounds, const Among& among, int number) {
        settle();
        begun_[number] = chain(rounds, among, now_, number + 1, " cpu 1");
    }
    void finish_sum(int number) {
        settle();
        const auto sum = begun_.extract(number);
        if (!sum.empty()) now_ = join({now_, sum.mapped()});
    }

  private:
    static double bytes(const Message& message, std::size_t bytes_of_cell) {
        return static_cast<double>(message.values() * bytes_of_cell);
    }

    template <class... Arguments>
    Label line(Label after, fmt::format_string<Arguments...> text, Arguments&&... arguments) {
        fmt::print(out_, "l{}: {}\n", ++lines_, fmt::format(text, std::forward<Arguments>(arguments)...));
        if (after != none) fmt::print(out_, "l{} requires l{}\n", lines_, after);
        return lines_;
    }
    Label join(const std::vector<Label>& over, const char* processor = "") {
        const Label here = line(none, "calc 0{}", processor);
        for (const Label label : over)
            if (label != none) fmt::print(out_, "l{} requires l{}\n", here, label);
        return here;
    }

    // What has been computed since the last line.
    void settle() {
        const long nanoseconds = std::lround(1e9 * seconds_);
        seconds_ = 0;
        if (nanoseconds > 0) now_ = line(now_, "calc {}", nanoseconds);
    }

    Label chain(const std::vector<Round>& rounds, const Among& among, Label before, int tag,
                const char* processor) {
        for (const Round& round : rounds) {
            std::vector<Label> over;
            const auto bytes_of = [](const Words& words) { return words.count * sizeof(double); };
            if (round.sent.count > 0)
                over.push_back(line(before, "send {}b to {} tag {}{}", bytes_of(round.sent),
                                    among.name(round.peer), tag, processor));
            if (round.received.count > 0)
                over.push_back(line(before, "recv {}b from {} tag {}{}", bytes_of(round.received),
                                    among.name(round.peer), tag, processor));
            before = join(over, processor);
        }
        return before;
    }

    std::ostream& out_;
    int rank_;
    Costs& costs_;
    Label lines_ = none;
    Label now_ = none;
    double seconds_ = 0;
    std::map<int, Label> begun_;  // sums under way, by number
};

}  // namespace

GoalCounts write_goal(std::ostream& out, std::span<const Slice> slices,
                      const std::vector<ExchangePlan>& plans, const Imagined& where, long most_of_visit) {
    // Sums have the tags below: one that is waited for 0, others by their numbers.
    constexpr int first_tag = 1000;
    const Trace cycle = first_cycle(slices, where.bottom.first, most_of_visit);
    const int ranks = where.topology.ranks();
    Costs costs(plans, where.topology, where.model, where.all_reduce, where.sums, nullptr, where.fewer);

    const auto cost_of = [&](const Event& event) -> const Costs::OfExchange& {
        return costs.exchange(event.level, event.use, event.fields, event.value_bytes, event.one_colour);
    };

    struct Indexed {
        Stages of_all, of_one_colour;  // what they carry where all cells are wanted, or those of one colour
        Among among;
        int tag = 0;
    };
    std::map<std::pair<int, ExchangeUse>, Indexed> planned;
    std::list<Plan> plans_of_colour;
    int tag = first_tag;
    for (const ExchangePlan& plan : plans) {
        check(plan.nodes.all(), "a schedule is of all ranks");
        const std::size_t among = plan.ranks.empty() ? static_cast<std::size_t>(ranks) : plan.ranks.size();
        const Plan& whole = plan.plans.front();
        if (plan.one_colour) plans_of_colour.push_back(of_one_colour(whole));
        const Stages stages = by_rank(whole, among);
        planned[{plan.level, plan.use}] = {
            stages, plan.one_colour ? by_rank(plans_of_colour.back(), among) : stages, {plan.ranks}, tag};
        tag += static_cast<int>(stages.size());
    }

    fmt::print(out, "// The first V-cycle; of the visit to the bottom at most {} exchanges and sums.\n",
               most_of_visit);
    fmt::print(out, "// Written by Keel, from plans and rounds. Times are nanoseconds on {}.\n",
               where.model.machine.name);
    fmt::print(out, "num_ranks {}\n", ranks);
    // Those that have some of a level.
    const auto among_of = [&](int level) -> Among {
        const LevelRanks* const fewer = ranks_at(where.fewer, level);
        return {fewer ? std::span<const int>(fewer->ranks) : std::span<const int>()};
    };
    const auto topology_of = [&](int level) -> const Topology& {
        const LevelRanks* const fewer = ranks_at(where.fewer, level);
        return fewer ? fewer->topology : where.topology;
    };
    std::map<std::pair<int, std::size_t>, AllReduceAlgorithm> algorithms;
    for (const Event& event : cycle)
        if (event.kind == Event::Kind::sum || event.kind == Event::Kind::begin_sum)
            algorithms.try_emplace({event.level, event.words},
                                   algorithm_of(where.all_reduce, where.model.machine,
                                                topology_of(event.level).places(), event.words));
    const auto rounds_of_sum = [&](const Event& event, int number) {
        return rounds_of(algorithms.at({event.level, event.words}), topology_of(event.level), number,
                         event.words, event.summands);
    };
    // Who takes part in an event: ghosts beyond boundaries are filled where boxes are before they are merged.
    const auto among_in = [&](const Event& event) -> Among {
        if (event.kind == Event::Kind::exchange) return planned.at({event.level, event.use}).among;
        const LevelRanks* const fewer = ranks_at(where.fewer, event.level);
        const bool lands = event.op == Op::boundary && fewer && fewer->level == event.level;
        return among_of(event.kind == Event::Kind::work && lands ? event.level - 1 : event.level);
    };
    for (int rank = 0; rank < ranks; ++rank) {
        Program program(out, rank, costs);
        std::map<std::tuple<int, std::size_t, WordType>, std::vector<Round>> rounds;
        const auto rounds_for = [&](const Event& event) -> const std::vector<Round>& {
            const auto [found, is_new] = rounds.try_emplace({event.level, event.words, event.summands});
            if (is_new) found->second = rounds_of_sum(event, among_of(event.level).number(rank));
            return found->second;
        };
        for (const Event& event : cycle) {
            const Among among = among_in(event);
            if (among.number(rank) < 0) continue;
            switch (event.kind) {
                case Event::Kind::work:
                    program.work(static_cast<double>(event.calls), event.work);
                    break;
                case Event::Kind::exchange: {
                    const Indexed& plan = planned.at({event.level, event.use});
                    const Costs::OfExchange& cost = cost_of(event);
                    program.work(1, {0, cost.copied_bytes + 2 * cost.kept_bytes});
                    program.exchange(event.one_colour ? plan.of_one_colour : plan.of_all, among,
                                     event.fields * event.value_bytes, plan.tag);
                    break;
                }
                case Event::Kind::sum:
                    program.sum(rounds_for(event), among);
                    break;
                case Event::Kind::begin_sum:
                    program.begin_sum(rounds_for(event), among, event.number);
                    break;
                case Event::Kind::push_sums:  // they are chains of their own
                    break;
                case Event::Kind::finish_sum:
                    program.finish_sum(event.number);
                    break;
                case Event::Kind::letters:
                case Event::Kind::agreement:
                case Event::Kind::all_gather:
                case Event::Kind::gather_on_node:
                case Event::Kind::collect:
                    check(false, "a schedule is of grids, on which nothing is gathered");
                    break;
            }
        }
    }

    GoalCounts counts;
    for (const Event& event : cycle) {
        if (event.kind == Event::Kind::exchange) {
            counts.exchanges += 1;
            counts.messages += cost_of(event).all.messages;
        } else if (communicates(event)) {
            counts.sums += 1;
            for (int number = 0; number < topology_of(event.level).ranks(); ++number)
                for (const Round& round : rounds_of_sum(event, number))
                    counts.messages += round.sent.count > 0 ? 1 : 0;
        }
    }
    return counts;
}

}  // namespace keel
