#include "comm/carry/exchanger.hpp"

#include <algorithm>
#include <utility>

namespace keel {

Exchanger::Exchanger(Operations& operations, Plan plan, int rank, const ExchangeOptions& options,
                     const TransportOptions& transport)
    : operations_(operations), plan_(std::move(plan)), wire_(options.wire) {
    routes_.push_back(route_of(plan_, rank, transport));
    if (options.one_colour) routes_.push_back(route_of(of_one_colour(plan_), rank, transport));
    reserve(1);
}

Exchanger::Route Exchanger::route_of(const Plan& plan, int rank, const TransportOptions& transport) {
    Route route{std::make_unique<const RankSchedule>(plan, rank), nullptr, {}};
    route.messages = make_transport(plan.carrier, transport, *route.schedule);
    for (const SendStage& stage : route.schedule->stages) {
        for (const MessageEnd& message : stage.sends)
            if (!transport.topology.same_node(rank, message.peer))
                route.last_off_node = route.forwarded.size();
        route.forwarded.push_back(operations_.make_items(std::span<const BlockCopy>(stage.forwards)));
    }
    return route;
}

void Exchanger::reserve(std::size_t fields) {
    if (fields <= room_) return;
    for (const Route& one : routes_) one.messages->reserve(fields);
    send_ = operations_.make_buffer(schedule().send_values() * fields, wire_);
    receive_ = operations_.make_buffer(schedule().receive_values() * fields, wire_);
    room_ = fields;
    if (precision_) send_in(*precision_);
}

void Exchanger::send_in(Precision precision) {
    precision_ = send_.precision = receive_.precision = precision;
}

void Exchanger::start(std::size_t fields, Carried carried) {
    fields_ = fields;
    carried_ = carried;
    sent_ = 1;
    route(carried).messages->start(send_.wire, receive_.wire, fields, send_.precision);
}

void Exchanger::forward_through(std::size_t last) {
    const Route& in_flight = route(carried_);
    for (; sent_ <= last; ++sent_) {
        in_flight.messages->await(sent_);
        forward(sent_);
        in_flight.messages->send(sent_);
    }
}

void Exchanger::finish() {
    forward_through(schedule(carried_).stages.size() - 1);
    route(carried_).messages->wait();
}

// Staged messages are forwarded where they arrive, in host memory: the device does not see them.
void Exchanger::forward(std::size_t stage) {
    if (send_.wire == send_.data) {
        operations_.copy_blocks(Packed{send_, fields_}, route(carried_).forwarded[stage],
                                Packed{receive_, fields_}, {});
        return;
    }
    const std::size_t bytes = bytes_of_value(send_.precision) * fields_;
    const auto* const from = static_cast<const std::byte*>(receive_.wire);
    auto* const to = static_cast<std::byte*>(send_.wire);
    for (const BlockCopy& copy : schedule(carried_).stages[stage].forwards)
        std::copy_n(from + copy.from.offset * bytes, product(copy.extent) * bytes,
                    to + copy.to.offset * bytes);
}

}  // namespace keel
