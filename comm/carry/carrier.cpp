#include "comm/carry/carrier.hpp"

#include <algorithm>
#include <utility>

namespace keel {

Carrier::Carrier(Operations& operations, Plan plan, int rank, Wire wire, const Transport& transport)
    : operations_(operations),
      plan_(std::move(plan)),
      itinerary_(std::make_unique<const Itinerary>(plan_, rank)),
      wire_(wire),
      messages_(transport(*itinerary_)) {
    for (const Departure& departure : itinerary_->departures)
        forwarded_.push_back(operations.make_items(std::span<const Parcel>(departure.parcels)));
    reserve(1);
}

void Carrier::reserve(std::size_t fields) {
    if (fields <= room_) return;
    send_ = operations_.make_buffer(itinerary_->send_values() * fields, wire_);
    receive_ = operations_.make_buffer(itinerary_->receive_values() * fields, wire_);
    room_ = fields;
}

void Carrier::start(std::size_t fields) {
    fields_ = fields;
    messages_->start(send_.wire, receive_.wire, fields, send_.precision);
}

void Carrier::finish() {
    for (std::size_t d = 1; d < itinerary_->departures.size(); ++d) {
        messages_->await(d);
        forward(d);
        messages_->depart(d);
    }
    messages_->wait();
}

// Staged messages are passed on where they arrive, in host memory: the device does not see them.
void Carrier::forward(std::size_t departure) {
    if (send_.wire == send_.data) {
        operations_.forward(send_, forwarded_[departure], receive_, fields_);
        return;
    }
    const std::size_t bytes = bytes_of_value(send_.precision) * fields_;
    const auto* const from = static_cast<const std::byte*>(receive_.wire);
    auto* const to = static_cast<std::byte*>(send_.wire);
    for (const Parcel& p : itinerary_->departures[departure].parcels)
        std::copy_n(from + p.from * bytes, static_cast<std::size_t>(p.values) * bytes, to + p.to * bytes);
}

}  // namespace keel
