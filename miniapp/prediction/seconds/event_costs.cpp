#include "miniapp/prediction/seconds/event_costs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <utility>

#include "miniapp/files/machine_file.hpp"
#include "miniapp/prediction/seconds/solve_time.hpp"
#include "miniapp/report/records/records.hpp"

namespace keel {
namespace {

enum class Part { compute, ghosts, all_reduces, rest };
constexpr auto names_of(Part) {
    return std::array{"compute", "ghosts", "all_reduces", "rest"};
}

// Digits that differ from machine to machine by rounding are left out.
double rounded(double value) {
    return std::stod(fmt::format("{:.8g}", value));
}

// The distinct events of a solve, and what they cost.
class EventTable {
  public:
    explicit EventTable(VariedCosts& costs) : costs_(costs) {
        const auto& messages = costs.ranks().model.machine.messages;
        double latency = 1;
        for (const auto& of_memory : messages)
            for (const Protocol protocol : values_of<Protocol>())
                if (of_memory && of_memory->at(Locality::off_node, protocol)) {
                    const Postal& message = *of_memory->at(Locality::off_node, protocol);
                    latency = std::min(latency, message.alpha - message.overhead.value_or(0));
                }
        // Other messages may take longest at little latency, much of it, and slow bytes.
        machines_ = {{}, {.latency = -0.9 * latency}, {.latency = 1e-3}, {.bytes = 30}};
    }

    // The rows of an event: several if an exchange packs vectors.
    const std::vector<int>& rows(const Event& event) {
        const auto [found, is_new] = known_.try_emplace(
            {event.kind, event.level, event.op, event.calls, event.work.flops, event.work.bytes, event.use,
             event.fields, event.value_bytes, event.one_colour, event.words, event.number, event.whom,
             host_of(event.device)});
        if (is_new) found->second = new_rows(event);
        return found->second;
    }
    const Json& json() const { return table_; }

  private:
    std::vector<int> new_rows(const Event& event) {
        switch (event.kind) {
            case Event::Kind::work:
                return {work(event.op == Op::pack || event.op == Op::unpack ? Part::ghosts : Part::compute,
                             event)};
            case Event::Kind::begin_all_reduce:
                return {row({{"begin", event.number}, {"rounds", rounds(event)}})};
            case Event::Kind::finish_all_reduce:
                return {row({{"finish", event.number}})};
            case Event::Kind::progress:
                return {row({{"progress", true}})};
            case Event::Kind::exchange: {
                const double packed = costs_.with({}).exchange(event).packed_bytes;
                const int waits = message(Part::ghosts, event);
                if (packed == 0) return {waits};
                const int packs = work(Part::ghosts, {.calls = 1, .work = {0, packed}});
                return {packs, waits, packs};
            }
            default:
                return {
                    message(event.kind == Event::Kind::all_reduce ? Part::all_reduces : Part::rest, event)};
        }
    }
    int row(const Json& content) {
        const auto [found, is_new] = numbers_.try_emplace(content.dump(), static_cast<int>(table_.size()));
        if (is_new) table_.push_back(content);
        return found->second;
    }
    int work(Part part, const Event& event) {
        Json content{{"part", name(part)}, {"work", {event.calls, event.work.bytes, event.work.flops}}};
        if (costs_.ranks().model.machine.launch) {
            content["device"] = host_of(event.device);
            content["block"] = event.op == Op::bottom_solve;
        }
        return row(content);
    }
    int message(Part part, const Event& event) {
        const auto seconds = [&](Costs& costs) { return message_seconds(event, costs); };
        constexpr double delay = 1e-3;
        const double delayed = seconds(costs_.with({.all_reduce = delay})) - seconds(costs_.with({}));
        return row(
            {{"part", name(part)}, {"wait", tangents(seconds)}, {"delays", std::round(delayed / delay)}});
    }
    Json rounds(const Event& event) {
        const auto all = [&](Costs& costs) {
            return costs.rounds(event.level, event.words, Costs::Waiting::in_flight);
        };
        Json rounds = Json::array();
        for (std::size_t n = 0; n < all(costs_.with({})).size(); ++n)
            rounds.push_back({{"wait", tangents([&](Costs& costs) { return all(costs)[n].seconds; })},
                              {"busy", all(costs_.with({}))[n].busy}});
        return rounds;
    }
    // Seconds of the machine as it is, by further latency, and by a further part of the seconds a byte.
    template <class Seconds>
    Json tangents(const Seconds& seconds) {
        std::set<std::array<double, 3>> distinct;
        for (const MachineChange& at : machines_) {
            constexpr double latency = 1e-9;
            constexpr double bytes = 1e-3;
            MachineChange slower = at;
            slower.latency += latency;
            MachineChange longer = at;
            longer.bytes += bytes;
            const double here = seconds(costs_.with(at));
            const double by_latency = (seconds(costs_.with(slower)) - here) / latency;
            const double by_bytes = (seconds(costs_.with(longer)) - here) / bytes;
            distinct.insert({rounded(here - by_latency * at.latency - by_bytes * at.bytes),
                             std::round(by_latency * 1e4) / 1e4, rounded(by_bytes)});
        }
        return distinct;
    }

    // The counts that LaunchCosts price.
    using HostCounts = std::array<long, 4>;
    static HostCounts host_of(const DeviceCounts& counts) {
        return {counts.launches, counts.waits, counts.replays, counts.nodes};
    }

    using Key = std::tuple<Event::Kind, int, Op, long, double, double, ExchangeUse, std::size_t, std::size_t,
                           bool, std::size_t, int, GatherAmong, HostCounts>;
    VariedCosts& costs_;
    std::vector<MachineChange> machines_;
    std::map<Key, std::vector<int>> known_;
    std::map<std::string, int> numbers_;
    Json table_ = Json::array();
};

// Numbers, and [times, [numbers]] in place of numbers that follow themselves.
Json compressed(std::span<const int> all) {
    constexpr std::size_t longest = 400;
    Json text = Json::array();
    for (std::size_t at = 0; at < all.size();) {
        std::size_t best = 1, times = 1;
        for (std::size_t length = 1; length <= std::min(longest, (all.size() - at) / 2); ++length) {
            const auto first = all.subspan(at, length);
            std::size_t repeats = 1;
            while (at + (repeats + 1) * length <= all.size() &&
                   std::ranges::equal(first, all.subspan(at + repeats * length, length)))
                ++repeats;
            if ((repeats - 1) * length > (times - 1) * best) best = length, times = repeats;
        }
        if (times > 1)
            text.push_back({times, all.subspan(at, best)});
        else
            text.push_back(all[at]);
        at += times * best;
    }
    return text;
}

// Events counted, and the distinct pieces between the begin of an all-reduce with none in flight and the
// next end of all.
Json pieces_of(const Slice& slice, EventTable& table) {
    std::map<int, long> counts;
    std::map<std::vector<int>, long> pieces;
    std::vector<int> piece;
    int in_flight = 0;
    for (const Event& event : slice.trace) {
        const std::vector<int>& rows = table.rows(event);
        if (event.kind == Event::Kind::begin_all_reduce) ++in_flight;
        if (in_flight > 0)
            piece.insert(piece.end(), rows.begin(), rows.end());
        else
            for (const int row : rows) ++counts[row];
        if (event.kind == Event::Kind::finish_all_reduce && --in_flight == 0)
            ++pieces[std::exchange(piece, {})];
    }
    Json in_order = Json::array();
    for (const auto& [events, times] : pieces)
        in_order.push_back({{"times", times}, {"events", compressed(events)}});
    return {{"times", slice.times}, {"counts", counts}, {"pieces", in_order}};
}

}  // namespace

std::string event_costs(std::span<const Slice> slices, VariedCosts& costs) {
    EventTable table(costs);
    Json of_slices = Json::array();
    for (const Slice& slice : slices) of_slices.push_back(pieces_of(slice, table));
    return Json{{"machine", machine_toml(costs.ranks().model.machine, {})},
                {"program_progresses", costs.ranks().progression == Progression::by_program},
                {"events", table.json()},
                {"slices", of_slices}}
        .dump();
}

}  // namespace keel
