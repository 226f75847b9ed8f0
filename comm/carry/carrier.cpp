#include "comm/carry/carrier.hpp"

#include <algorithm>
#include <utility>

namespace keel {

Carrier::Carrier(Operations& operations, Plan plan, int rank, Wire wire, const Transport& transport,
                 bool one_colour)
    : operations_(operations), plan_(std::move(plan)), wire_(wire) {
    routes_.push_back(route_of(plan_, rank, transport));
    if (one_colour) routes_.push_back(route_of(of_one_colour(plan_), rank, transport));
    reserve(1);
}

Carrier::Route Carrier::route_of(const Plan& plan, int rank, const Transport& transport) {
    Route route{std::make_unique<const Itinerary>(plan, rank), nullptr, {}};
    route.messages = transport(*route.itinerary);
    for (const Departure& departure : route.itinerary->departures)
        route.forwarded.push_back(operations_.make_items(std::span<const Parcel>(departure.parcels)));
    return route;
}

void Carrier::reserve(std::size_t fields) {
    if (fields <= room_) return;
    send_ = operations_.make_buffer(itinerary().send_values() * fields, wire_);
    receive_ = operations_.make_buffer(itinerary().receive_values() * fields, wire_);
    room_ = fields;
}

void Carrier::start(std::size_t fields, Carried carried) {
    fields_ = fields;
    carried_ = carried;
    route(carried).messages->start(send_.wire, receive_.wire, fields, send_.precision);
}

void Carrier::finish() {
    const Route& under_way = route(carried_);
    for (std::size_t d = 1; d < under_way.itinerary->departures.size(); ++d) {
        under_way.messages->await(d);
        forward(d);
        under_way.messages->depart(d);
    }
    under_way.messages->wait();
}

// Staged messages are passed on where they arrive, in host memory: the device does not see them.
void Carrier::forward(std::size_t departure) {
    if (send_.wire == send_.data) {
        operations_.forward(send_, route(carried_).forwarded[departure], receive_, fields_);
        return;
    }
    const std::size_t bytes = bytes_of_value(send_.precision) * fields_;
    const auto* const from = static_cast<const std::byte*>(receive_.wire);
    auto* const to = static_cast<std::byte*>(send_.wire);
    for (const Parcel& p : itinerary(carried_).departures[departure].parcels)
        std::copy_n(from + p.from * bytes, static_cast<std::size_t>(p.values) * bytes, to + p.to * bytes);
}

}  // namespace keel
