#include "comm/carry/item_exchange.hpp"

#include <utility>

namespace keel {

// Staged messages are packed and passed on in host memory, also where the operations compute elsewhere.
ItemExchange::ItemExchange(Operations& operations, Plan plan, int rank, const Transport& transport)
    : rank_(rank), carrier_(operations, std::move(plan), rank, Wire::staged, transport) {}

void ItemExchange::run(const Give& give, const Take& take) {
    const Itinerary& itinerary = carrier_.itinerary();
    if (itinerary.empty()) return;
    auto* const to_send = static_cast<double*>(carrier_.to_send().wire);
    const auto* const received = static_cast<const double*>(carrier_.received().wire);
    const auto each_item = [](const Leg& leg, const auto& visit) {
        std::size_t at = leg.offset;
        for (const Item& item : leg.items) {
            const auto values = static_cast<std::size_t>(item.values);
            visit(item, at, values);
            at += values;
        }
    };
    for (const Departure& departure : itinerary.departures)
        for (const Leg& leg : departure.sends)
            each_item(leg, [&](const Item& item, std::size_t at, std::size_t values) {
                if (item.owner == rank_) give(item, std::span(to_send + at, values));
            });
    carrier_.start(1);
    carrier_.finish();
    for (const Leg& leg : itinerary.receives)
        each_item(leg, [&](const Item& item, std::size_t at, std::size_t values) {
            take(item, std::span(received + at, values));
        });
}

}  // namespace keel
