#include "comm/plans/itinerary.hpp"

#include <algorithm>
#include <utility>

#include "kernels/check.hpp"

namespace keel {
namespace {

// Where a relayed item is found, and how many receives must have arrived for that.
struct Arrival {
    std::size_t offset;
    std::size_t receives;
};

}  // namespace

Itinerary::Itinerary(const Plan& plan, int own_rank) : rank(own_rank), departures(1) {
    // With one stage nothing is passed on.
    const bool relays = plan.stages.size() > 1;
    std::size_t sent = 0;
    std::size_t received = 0;
    std::map<Item, Arrival> arrivals;
    const auto append = [](std::vector<Leg>& legs, const Stage& stage, const Message& message, int peer,
                           std::size_t& used, bool relayed) {
        legs.push_back({stage.phase, peer, used, message.values(), relayed, message.items});
        used += legs.back().values;
    };
    // The departure that waits for so many receives; they are made in ascending order, stage by stage.
    const auto departure_after = [&](std::size_t count) -> Departure& {
        for (Departure& departure : departures)
            if (departure.receives >= count) return departure;
        departures.push_back({count, {}, {}});
        return departures.back();
    };
    for (const Message& message : plan.local.messages)
        if (message.source == rank)
            append(departures[0].sends, plan.local, message, message.target, sent, false);
    for (const Stage& stage : plan.stages) {
        const std::size_t stages_before = receives.size();
        std::map<int, std::size_t> last;  // to each peer, for messages of a sequence leave in its order
        for (const Message& message : stage.messages) {
            if (message.source != rank) continue;
            std::size_t& after = last[message.target];
            for (const Item& item : message.items)
                if (item.owner != rank) {
                    const auto arrival = arrivals.find(item);
                    check(arrival != arrivals.end(), "a plan passes on what does not come");
                    after = std::max(after, arrival->second.receives);
                }
            Departure& departure = departure_after(after);
            after = departure.receives;
            std::size_t place = sent;
            for (const Item& item : message.items) {
                if (item.owner != rank)
                    departure.parcels.push_back({arrivals.at(item).offset, place, item.values});
                place += static_cast<std::size_t>(item.values);
            }
            append(departure.sends, stage, message, message.target, sent, relays);
        }
        for (const Message& message : stage.messages)
            if (message.target == rank) append(receives, stage, message, message.source, received, relays);
        for (std::size_t r = stages_before; relays && r < receives.size(); ++r) {
            std::size_t place = receives[r].offset;
            for (const Item& item : receives[r].items) {
                arrivals.try_emplace(item, Arrival{place, receives.size()});
                place += static_cast<std::size_t>(item.values);
            }
        }
    }
    for (const Message& message : plan.local.messages)
        if (message.target == rank) append(receives, plan.local, message, message.source, received, false);
}

std::size_t Itinerary::send_values() const {
    std::size_t values = 0;
    for (const Departure& departure : departures)
        for (const Leg& leg : departure.sends) values += leg.values;
    return values;
}

std::size_t Itinerary::receive_values() const {
    return receives.empty() ? 0 : receives.back().offset + receives.back().values;
}

}  // namespace keel
